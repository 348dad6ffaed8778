"""Whether the documents of a folder are few enough for one task."""

from pathlib import Path

from weft.inputs.weight import is_light


def test_a_folder_is_light_up_to_a_size_and_an_archive_weighs_more_than_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.xml").write_bytes(b"<a/>" * 100)
    (tmp_path / "b.xml").write_bytes(b"<a/>" * 100)
    (tmp_path / "readme.txt").write_bytes(b"no document" * 1_000)

    assert is_light(tmp_path, 800)
    assert not is_light(tmp_path, 799)
    assert is_light(tmp_path / "b.xml", 400)
    (tmp_path / "c.gz").write_bytes(b"1" * 100)
    assert not is_light(tmp_path, 2_000)
    assert is_light(tmp_path, 2_400)
