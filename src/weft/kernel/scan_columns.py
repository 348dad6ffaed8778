"""Elements, attributes and texts in as they come in a document; the columns of a node table out.

The columns of one kind of node are the rows of one block, so that a batch's are copied out at once.
"""

import cython
import numpy as np

from weft.kernel.arrays import held
from weft.kernel.scan_room import copied_together, is_kept, may_keep, named, wider_block

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.name_paths import TEXT_CODE, NamePaths

    ELEMENTS, ATTRIBUTES, TEXTS, DECLARATIONS, LEVELS = range(5)  # what there may be no more room for
_ROOM = 1 << 12  # entries of a kind to begin with
_MOST = (1 << 31) - 2  # nodes of a batch: a node is a number of 32 bits


@cython.cclass
class ScanColumns:
    """The nodes of a batch so far; `scan_columns.pxd` tells the columns."""

    def __init__(self):
        self.paths = NamePaths()
        self.is_narrow = self.wants_attributes = self.wants_texts = False
        self.begin()

    def begin(self) -> None:
        """Nothing yet, and room for a little."""
        self.element_ints, self.element_longs = np.zeros((10, 0), np.int32), np.zeros((2, 0), np.int64)
        self.attribute_ints, self.attribute_longs = np.zeros((3, 0), np.int32), np.zeros((1, 0), np.int64)
        self.text_ints, self.text_longs = np.zeros((2, 0), np.int32), np.zeros((1, 0), np.int64)
        self.declared_ints, self.level_ints = np.zeros((2, 0), np.int32), np.zeros((2, 0), np.int32)
        for kind in (ELEMENTS, ATTRIBUTES, TEXTS, DECLARATIONS, LEVELS):
            self.reserve(kind, _ROOM)
        self.character_array, self.value_array = np.zeros(_ROOM, np.uint8), np.zeros(_ROOM, np.uint8)
        self.characters, self.values = held(self.character_array), held(self.value_array)
        self.elements = self.attributes = self.texts = self.declarations = self.documents = 0
        self.mark_document()

    def reserve(self, kind: int, room: int) -> None:
        """Room for so many entries of a kind."""
        if room > _MOST:
            raise MemoryError(f"a batch of more than {_MOST} nodes: read fewer documents at once")
        if kind == ELEMENTS:
            ints, longs = wider_block(self.element_ints, room), wider_block(self.element_longs, room)
            self.element_ints, self.element_longs, self.element_room = ints, longs, room
            self.document, self.name, self.tag, self.parent, self.last = map(held, ints[:5])
            self.depth, self.text_first, self.text_last, self.event, self.path = map(held, ints[5:])
            self.start, self.end = map(held, longs)
        elif kind == ATTRIBUTES:
            ints, longs = wider_block(self.attribute_ints, room), wider_block(self.attribute_longs, room + 1)
            self.attribute_ints, self.attribute_longs, self.attribute_room = ints, longs, room
            self.attribute_name, self.attribute_tag, self.attribute_owner = map(held, ints)
            self.value_start = held(longs[0])
        elif kind == TEXTS:
            ints, longs = wider_block(self.text_ints, room), wider_block(self.text_longs, room + 1)
            self.text_ints, self.text_longs, self.text_room = ints, longs, room
            self.text_owner, self.text_event = map(held, ints)
            self.text_start = held(longs[0])
        elif kind == DECLARATIONS:
            self.declared_ints, self.declared_room = wider_block(self.declared_ints, room), room
            self.declared_row, self.declared = map(held, self.declared_ints)
        else:
            self.level_ints, self.level_room = wider_block(self.level_ints, room), room
            self.level_size, self.level_context = map(held, self.level_ints)

    def widen(self, kind: int) -> None:
        """Twice the room for a kind."""
        rooms = self.element_room, self.attribute_room, self.text_room, self.declared_room, self.level_room
        self.reserve(kind, 2 * rooms[kind])

    def reserve_characters(self, size: int) -> None:
        """Room for so many more bytes of texts, and of attribute values."""
        if len(self.character_array) < self.text_start[self.texts] + size:
            array = self.character_array
            self.character_array = np.empty(max(2 * len(array), self.text_start[self.texts] + size), np.uint8)
            self.character_array[: self.text_start[self.texts]] = array[: self.text_start[self.texts]]
            self.characters = held(self.character_array)
        if len(self.value_array) < self.value_start[self.attributes] + size:
            array = self.value_array
            self.value_array = np.empty(max(2 * len(array), self.value_start[self.attributes] + size), np.uint8)
            self.value_array[: self.value_start[self.attributes]] = array[: self.value_start[self.attributes]]
            self.values = held(self.value_array)

    # -- a document

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mark_document(self) -> cython.void:
        """A document begins: what comes before is kept, whatever becomes of it."""
        self.first_element, self.first_attribute = self.elements, self.attributes
        self.first_text, self.first_declaration = self.texts, self.declarations
        self.row, self.level, self.context, self.nodes = -1, 0, 0, 0

    def cut_document(self) -> None:
        """Nothing of the document stays."""
        self.elements, self.attributes = self.first_element, self.first_attribute
        self.texts, self.declarations = self.first_text, self.first_declaration
        self.mark_document()
        self.paths.cut_document()

    def end_document(self) -> None:
        """It is part of the batch."""
        self.keep_document()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep_document(self) -> cython.void:
        self.documents += 1
        self.mark_document()
        if self.is_narrow:
            self.paths.end_document()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def open(self, name: cython.int, tag: cython.int, start: cython.longlong) -> cython.void:
        """An element begins; there is room for it."""
        row: cython.Py_ssize_t = self.elements
        self.document[row], self.name[row], self.tag[row] = self.documents, name, tag
        self.parent[row], self.start[row] = self.row, start
        self.level += 1
        self.depth[row] = self.level
        self.text_first[row] = self.texts
        self.event[row] = row + self.texts
        self.row = row
        self.elements = row + 1
        if self.is_narrow:
            self.find_paths(row)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_paths(self, row: cython.int) -> cython.void:
        """The paths of an element that begins and of its attributes, which are not kept; there is room for all."""
        above: cython.int = self.path[self.parent[row]] if row else 0
        self.path[row] = self.paths.note(above, 2 * self.name[row] + 1)
        if self.paths.keeps_offsets:
            self.paths.place(self.path[row], self.start[row])
        if self.wants_attributes:
            self.find_attribute_paths(self.path[row], self.attributes)
        if row and self.declarations:
            self.paths.declare()
        self.attributes = self.declarations = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_attribute_paths(self, above: cython.int, number: cython.Py_ssize_t) -> cython.void:
        """The paths of so many attributes of the tag that begins."""
        at: cython.Py_ssize_t
        for at in range(number):
            path: cython.int = self.paths.note(above, 2 * self.attribute_name[at] + 2)
            if self.paths.keeps_offsets:
                self.paths.place(path, self.written_at[at])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def close(self, end: cython.longlong) -> cython.void:
        """The element that was opened last ends."""
        row: cython.Py_ssize_t = self.row
        self.end[row], self.last[row], self.text_last[row] = end, self.elements - 1, self.texts
        self.level -= 1
        self.row = self.parent[row]
        if self.is_narrow:
            self.elements = row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def end_text(self, end: cython.Py_ssize_t) -> cython.void:
        """The characters up to a place are a text of the element that is open; there is room for it."""
        if self.is_narrow:
            if self.wants_texts:
                path: cython.int = self.paths.note(self.path[self.row], TEXT_CODE)
                if self.paths.keeps_offsets:
                    self.paths.place(path, self.text_at)
            return
        self.text_owner[self.texts] = self.row
        self.text_event[self.texts] = self.elements + self.texts
        self.texts += 1
        self.text_start[self.texts] = end

    # -- the same for who has Python's objects

    def add_element(self, name: int, tag: int, start: int) -> None:
        """An element begins; its attributes and declarations came before it."""
        if self.elements == self.element_room:
            self.widen(ELEMENTS)
        if not self.paths.has_room(self.attributes + 1):
            self.paths.widen(self.attributes + 1)
        self.open(name, tag, start)

    def end_element(self, end: int) -> None:
        """The element that was opened last ends."""
        self.close(end)

    def add_attribute(self, name: int, tag: int, value: bytes) -> None:
        """An attribute of the element that begins next."""
        at: cython.Py_ssize_t = self.attributes
        if at == self.attribute_room:
            self.widen(ATTRIBUTES)
        self.reserve_characters(len(value))
        first: cython.Py_ssize_t = self.value_start[at]
        self.attribute_name[at], self.attribute_tag[at], self.attribute_owner[at] = name, tag, self.elements
        self.value_array[first : first + len(value)] = np.frombuffer(value, np.uint8)
        self.attributes = at + 1
        self.value_start[at + 1] = first + len(value)

    def add_declaration(self, declared: int) -> None:
        """A namespace that the element that begins next declares."""
        if self.declarations == self.declared_room:
            self.widen(DECLARATIONS)
        self.declared_row[self.declarations], self.declared[self.declarations] = self.elements, declared
        self.declarations += 1

    def add_text(self, text: bytes) -> None:
        """A text of the element that is open."""
        if self.texts == self.text_room:
            self.widen(TEXTS)
        if not self.paths.has_room(1):
            self.paths.widen(1)
        self.reserve_characters(len(text))
        first: cython.Py_ssize_t = self.text_start[self.texts]
        self.character_array[first : first + len(text)] = np.frombuffer(text, np.uint8)
        self.end_text(first + len(text))

    # -- a batch

    def narrow(self, documents: int, attributes: bool, texts: bool, offsets: bool) -> None:
        """Keep paths of names alone of what comes next, so many documents at most.

        With `offsets` also where the one node of each begins, which is not known of what expat reads.
        """
        self.is_narrow, self.wants_attributes, self.wants_texts = True, attributes, texts
        self.paths.begin_batch(documents, offsets)

    def take_paths(self) -> tuple:
        """The paths of names that each document has, and where each one's begin; what comes next is another batch."""
        self.is_narrow = self.wants_attributes = self.wants_texts = False
        self.clear(True)
        return self.paths.take()

    def take(self) -> dict:
        """The columns of the batch; what comes next is another one."""
        elements, attributes, texts, declared = self.elements, self.attributes, self.texts, self.declarations
        if elements + attributes + texts > _MOST:
            raise MemoryError(f"a batch of more than {_MOST} nodes: read fewer documents at once")
        blocks = [(self.element_ints, elements), (self.attribute_ints, attributes), (self.text_ints, texts)]
        blocks += [(self.element_longs, elements), (self.attribute_longs, attributes + 1)]
        blocks += [(self.text_longs, texts + 1), (self.declared_ints, declared)]
        buffers = self.character_array[: self.text_start[texts]], self.value_array[: self.value_start[attributes]]
        parts = [*(block[:, :size] for block, size in blocks), *buffers]
        is_copied = is_kept(max(elements, attributes, texts, declared), max(map(len, buffers)))
        columns = named(copied_together(parts) if is_copied else parts)
        self.clear(is_copied)
        return columns

    def clear(self, is_wanted: bool) -> None:
        """Nothing is left; the room is kept for the next batch if that is wanted, and it is not too large."""
        entries = max(self.element_room, self.attribute_room, self.text_room, self.declared_room, self.level_room)
        if is_wanted and may_keep(self, entries, max(len(self.character_array), len(self.value_array))):
            self.elements = self.attributes = self.texts = self.declarations = self.documents = 0
            self.mark_document()
        else:
            self.begin()
