"""`weft generate`: a DTD and the parameters of a workload in, random documents or queries out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import read_dtd
from weft.errors import ConfigurationError
from weft.workload import SHIPPED, generate_documents, generate_flwr, generate_queries

generate = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

RequiredDtd = Annotated[
    str, typer.Option("--dtd", metavar="NAME_OR_FILE", help=f"A DTD file, or one of {', '.join(SHIPPED)}.")
]
HowMany = Annotated[int, typer.Option(help="How many to make.")]
HowManyValues = Annotated[int, typer.Option(help="How many values a text or an attribute can take.")]
HowManyWords = Annotated[int, typer.Option(help="The words of a text.")]
RandomSeed = Annotated[int, typer.Option(help="The same seed and options give the same output.")]
Probability = Annotated[float, typer.Option(help="How likely each of them is.")]


@generate.callback()
def _generate() -> None:
    """Make random documents and queries from a DTD, to try things out and to measure.

    \b
      weft generate documents --dtd news --number 1000 --output news/
      weft generate queries --dtd news --number 100000 > queries.xpath
      weft match --ids queries.xpath news/
    """


# Long: nearly all of it is options and the text of --help.
@generate.command()
def documents(
    dtd: RequiredDtd,
    number: HowMany = 10,
    depth: Annotated[int, typer.Option(help="Levels of elements, where the DTD does not require more.")] = 8,
    repeats: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N|NAME=N",
            help="The most times an element repeats in its parent: for all (3), for one (section=5), or for one in "
            "one parent (book/section=2). Can be repeated.",
        ),
    ] = None,
    values: HowManyValues = 100,
    words: HowManyWords = 4,
    elements: Annotated[int | None, typer.Option(help="About how many elements a document has.")] = None,
    seed: RandomSeed = 0,
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write files 000001.xml, … into this folder.")
    ] = None,
) -> None:
    """Make random documents that conform to a DTD.

    They are printed one a line, or written to numbered files with --output.

    \b
      weft generate documents --dtd book --number 3
      weft generate documents --dtd my.dtd --repeats 2 --repeats chapter=9 --elements 70 --output books/
    """
    made = generate_documents(
        read_dtd(dtd),
        number=number,
        depth=depth,
        repeats=_repeats(repeats or []),
        values=values,
        words=words,
        elements=elements,
        seed=seed,
    )
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    for at, document in enumerate(made, start=1):
        if output is None:
            sys.stdout.write(document.decode("utf-8") + "\n")
        else:
            (output / f"{at:06}.xml").write_bytes(document)
    sys.stdout.flush()


# Long: nearly all of it is options and the text of --help.
@generate.command()
def queries(
    dtd: RequiredDtd,
    number: HowMany = 10,
    depth: Annotated[int, typer.Option(help="How many levels down a query goes.")] = 6,
    descendant: Annotated[float, typer.Option(help="How likely a step is //.")] = 0.2,
    wildcard: Annotated[float, typer.Option(help="How likely a step is *.")] = 0.2,
    predicates: Annotated[int, typer.Option(help="The most tests on values in a query.")] = 0,
    predicate_probability: Probability = 1.0,
    nested: Annotated[int, typer.Option(help="The most tests that a path exists in a query.")] = 0,
    nested_probability: Probability = 1.0,
    values: HowManyValues = 100,
    words: HowManyWords = 4,
    skew: Annotated[float, typer.Option(help="Zipf's exponent for the choice among children; 0 is uniform.")] = 0.0,
    distinct: Annotated[bool, typer.Option(help="Whether no query may come twice.")] = True,
    seed: RandomSeed = 0,
) -> None:
    """Make random XPath queries that documents of a DTD can match.

    They are printed one a line, which is a file of subscriptions. Give --values and --words as for the documents.

    \b
      weft generate queries --dtd news --number 1000 > queries.xpath
      weft generate queries --dtd auction --predicates 2 --descendant 0.5 --no-distinct --skew 1
    """
    made = generate_queries(
        read_dtd(dtd),
        number=number,
        depth=depth,
        descendant=descendant,
        wildcard=wildcard,
        predicates=predicates,
        predicate_probability=predicate_probability,
        nested=nested,
        nested_probability=nested_probability,
        values=values,
        words=words,
        skew=skew,
        distinct=distinct,
        seed=seed,
    )
    sys.stdout.writelines(query + "\n" for query in made)
    sys.stdout.flush()


@generate.command()
def flwr(
    dtd: RequiredDtd,
    number: HowMany = 10,
    depth: Annotated[int, typer.Option(help="Steps of a binding path (the paper's D1).")] = 2,
    predicate_paths: Annotated[int, typer.Option(help="Predicates in a where clause (PP).")] = 1,
    return_paths: Annotated[int, typer.Option(help="Paths in a return clause (RP).")] = 2,
    path_depth: Annotated[int, typer.Option(help="Steps of such a path, at most (D2).")] = 2,
    descendant: Annotated[float, typer.Option(help="How likely a step is // (DSProb).")] = 0.2,
    values: HowManyValues = 10,
    words: HowManyWords = 4,
    distinct: Annotated[bool, typer.Option(help="All queries differ.")] = True,
    seed: RandomSeed = 0,
) -> None:
    """Make random FLWR queries, one a line, with the parameters of the paper on message brokering.

    \b
      weft generate flwr --dtd bibliography --number 1000 > queries.xq.txt
    """
    made = generate_flwr(
        read_dtd(dtd),
        number=number,
        depth=depth,
        predicate_paths=predicate_paths,
        return_paths=return_paths,
        path_depth=path_depth,
        descendant=descendant,
        values=values,
        words=words,
        distinct=distinct,
        seed=seed,
    )
    sys.stdout.writelines(query + "\n" for query in made)
    sys.stdout.flush()


def _repeats(given: list[str]) -> dict[str, int]:
    repeats = {"*": 3}
    for entry in given:
        name, _, most = entry.rpartition("=")
        if not most.isdecimal():
            raise ConfigurationError(f"--repeats: expected N or NAME=N, found {entry!r}")
        repeats[name or "*"] = int(most)
    return repeats
