"""`weft.spark` is there when it is asked for, and nothing of Spark before."""

import subprocess
import sys


def run(program: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_weft_does_not_import_spark() -> None:
    loaded = run("import sys, weft; print([name for name in ('pyspark', 'py4j', 'weft.spark') if name in sys.modules])")

    assert loaded == "[]\n"


def test_weft_spark_is_loaded_when_it_is_first_asked_for() -> None:
    as_the_readme_writes_it = run("import weft; print(weft.spark.deliver.__name__, weft.spark is weft.spark)")
    by_name = run("from weft import spark; print(spark.join.__name__)")

    assert as_the_readme_writes_it == "deliver True\n"
    assert by_name == "join\n"


def test_a_worker_that_begins_loads_little() -> None:
    large = ("scipy", "pandas", "networkx", "httpx", "weft.broker.broker", "weft.engine.engine", "weft.views")

    loaded = run(f"import sys, weft.spark.source; print([name for name in {large} if name in sys.modules])")

    assert loaded == "[]\n"


def test_a_command_that_begins_loads_little() -> None:
    large = ("scipy", "pandas", "networkx", "httpx", "pyarrow", "pyspark", "duckdb")

    loaded = run(f"import sys, weft.cli; print([name for name in {large} if name in sys.modules])")

    assert loaded == "[]\n"


def test_all_names_of_weft_spark_are_there_though_none_is_loaded_yet() -> None:
    program = "from weft import spark; print(set(spark.__all__) <= set(dir(spark)), hasattr(spark, 'nothing'))\n"
    told = run(program + "print([name for name in spark.__all__ if getattr(spark, name) is None])")

    assert told == "True False\n[]\n"


def test_without_spark_it_is_told_what_to_install() -> None:
    told = run(
        "import sys; sys.modules['pyspark'] = None\n"
        "import weft\n"
        "try: weft.spark.deliver\n"
        "except ImportError as error: print(error)\n"
        "print(weft.Broker.__name__)\n"
    )

    assert "weft.spark needs Spark (" in told
    assert "pip install 'weft[spark]'" in told
    assert told.endswith("Broker\n")


def test_other_names_are_missing_as_ever() -> None:
    told = run(
        "import weft\n"
        "try: weft.sparkle\n"
        "except AttributeError as error: print(error)\n"
        "print(hasattr(weft, 'nothing'))\n"
    )

    assert told == "module 'weft' has no attribute 'sparkle'\nFalse\n"
