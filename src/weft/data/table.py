"""Tables as their owners have them, in Arrow's terms: files and frames in, named columns out.

Nothing is guessed about columns that name things: `names` are read as text from text files, so that "007" stays
"007" and a country called "NA" is not missing. Other columns take the narrowest type that holds all their values.
"""

import csv
import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.errors import DataError, MissingFileError, WeftTypeError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

TableLike = Any
"""A path to CSV, TSV, Parquet or Arrow; an Arrow table; a pandas or polars frame; or columns by name."""

MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "none", "?"]
"""What stands for a missing value in a text file, except in columns that name things, where only nothing does."""

TEXT = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
UNREADABLE = (csv.Error, OSError, EOFError, zlib.error)
"""What Python's own reader raises: a value too long for it, or a damaged archive."""

BINARY = (".parquet", ".pq", ".arrow", ".feather", ".ipc")


def read_table(source: TableLike, what: str, names: Sequence[str] = ()) -> "pa.Table":
    """A table of `what` ("nodes", "edges"); `names` are columns that hold ids."""
    import pyarrow as pa

    place = place_of(source, what)
    if isinstance(source, str | PathLike):
        table = _read_file(Path(source), what, names)
    elif isinstance(source, pa.Table):
        table = source
    elif isinstance(source, Mapping):
        table = _from_columns(source, what)
    elif hasattr(source, "to_records") and hasattr(source, "index"):
        table = _from_pandas(source, what)
    elif hasattr(source, "__arrow_c_stream__") and hasattr(source, "columns"):
        table = pa.table(source)
    else:
        raise WeftTypeError(
            f"{what}: expected a path, an Arrow table, a pandas or polars frame, or a mapping of columns, "
            f"but got {type(source).__name__}."
        )
    _each_once(table.column_names, place)
    return table


def place_of(source: TableLike, what: str) -> str:
    """How messages call a table: its file, or what it holds."""
    return Path(source).name if isinstance(source, str | PathLike) else what


def require_column(table: "pa.Table", column: str, where: str, role: str) -> Any:
    """A column by name, or a sentence that says which there are."""
    if column in table.column_names:
        return table[column].combine_chunks()
    hint = did_you_mean(str(column), table.column_names)
    raise DataError(f"{where}: no column {column!r} for the {role}.{hint} There are: {', '.join(table.column_names)}.")


def row_number(source: TableLike, position: int) -> int:
    """The number of a row as its owner counts: lines of a text file, the header being line 1; else from 0."""
    delimiter = text_delimiter(Path(source)) if isinstance(source, str | PathLike) else None
    if delimiter is None:
        return position
    with suppress(csv.Error):  # a value too long for Python's own reader
        for record, (line, _) in enumerate(_records(Path(source), delimiter)):
            if record == position + 1:
                return line
    return position + 2


def text_delimiter(path: Path) -> str | None:
    """What parts the columns of a text file; None for other files."""
    return TEXT.get(Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower())


def text_header(source: TableLike, what: str) -> list[str] | None:
    """The columns of a text file, before the rest of it is read; None for anything else."""
    if not isinstance(source, str | PathLike) or text_delimiter(Path(source)) is None:
        return None
    path, delimiter = _existing(Path(source), what), text_delimiter(Path(source))
    assert delimiter is not None
    try:
        header = next(_records(path, delimiter), None)
    except UNREADABLE as error:
        raise DataError(f"{path.name}: cannot be read: {first_line(error)}.") from None
    if header is None:
        raise DataError(f"{path.name}: the file is empty; its first line must name the columns.")
    line, names = header
    for at, name in enumerate(names, 1):
        if _is_foreign(name):
            raise DataError(f"{path.name}: line {line}, the name of column {at}, is not UTF-8 text. Save the file as UTF-8.")
    _each_once(names, path.name)
    return names


def _siblings(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.glob("*")) if path.parent.exists() else []


def _existing(path: Path, what: str) -> Path:
    if not path.exists():
        raise MissingFileError(f"{what}: there is no file {path}.{did_you_mean(path.name, _siblings(path))}")
    if path.is_dir():
        raise DataError(f"{what}: {path} is a folder; name one file in it.")
    return path


def _read_file(path: Path, what: str, names: Sequence[str]) -> "pa.Table":
    header = text_header(path, what)
    if header is not None:
        return _read_text(path, header, names)
    if _existing(path, what).suffix.lower() not in BINARY:
        raise DataError(f"{path.name}: cannot tell what kind of file this is. Known: {', '.join([*TEXT, *BINARY])}, .csv.gz.")
    import pyarrow as pa
    from pyarrow import feather, parquet

    try:
        return (parquet if path.suffix.lower() in (".parquet", ".pq") else feather).read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path.name}: cannot be read as {path.suffix[1:]}: {first_line(error)}.") from None


def _read_text(path: Path, header: list[str], names: Sequence[str]) -> "pa.Table":
    """Ids apart from the rest, because what counts as missing differs."""
    import pyarrow as pa

    delimiter = text_delimiter(path)
    assert delimiter is not None
    ids = [name for name in header if name in names]
    rest = [name for name in header if name not in ids]
    with suppress(*UNREADABLE):  # said below, where the rest is read
        records = _records(path, delimiter)
        next(records)
        if next(records, None) is None:
            return pa.table({name: pa.array([], pa.string() if name in ids else pa.null()) for name in header})
    apart = [_parse(path, delimiter, columns, columns is ids) for columns in (ids, rest) if columns]
    columns = {name: table[name] for table in apart for name in table.column_names}
    if any(pa.types.is_binary(column.type) for column in columns.values()):  # how Arrow keeps what is not UTF-8
        raise _fault(path, delimiter, "it is not UTF-8 text")
    return pa.table({name: columns[name] for name in header})


def _parse(path: Path, delimiter: str, columns: Sequence[str], as_ids: bool) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import csv

    size = min(path.stat().st_size * (20 if path.suffix == ".gz" else 1) + 1, 1 << 30)
    read = csv.ReadOptions(block_size=size, use_threads=False)  # one block: types hold for the whole file
    convert = csv.ConvertOptions(
        include_columns=columns,
        null_values=[""] if as_ids else MISSING,
        strings_can_be_null=True,
        column_types=dict.fromkeys(columns, pa.string()) if as_ids else {},
    )
    try:
        return csv.read_csv(path, read, csv.ParseOptions(delimiter=delimiter, newlines_in_values=True), convert)
    except (pa.ArrowException, OSError) as error:
        raise _fault(path, delimiter, first_line(error)) from None


def _fault(path: Path, delimiter: str, otherwise: str) -> DataError:
    """What is wrong with a text file, found by reading it again value by value."""
    with suppress(*UNREADABLE):
        records = _records(path, delimiter)
        _, header = next(records)
        for line, values in records:
            if len(values) != len(header):
                advice = f" Put a value that holds {delimiter!r} between double quotes." if len(values) > len(header) else ""
                return DataError(
                    f"{path.name}: line {line} has {len(values)} values where the header names {len(header)} columns: "
                    f"{delimiter.join(values)[:80]!r}.{advice}"
                )
            for name, value in zip(header, values, strict=True):
                if _is_foreign(value):
                    return DataError(f"{path.name}: line {line}, column {name!r}: not UTF-8 text. Save the file as UTF-8.")
    return DataError(f"{path.name}: cannot be read: {otherwise}.")


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Rows of a text file and the lines they start on; empty lines are none. Slow: for headers and messages."""
    from io import TextIOWrapper

    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as raw:
        reader = csv.reader(TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline=""), delimiter=delimiter)
        before = 0
        for values in reader:
            line, before = before + 1, reader.line_num
            if values:
                yield line, values


def _is_foreign(text: str) -> bool:
    """Whether some bytes were not UTF-8."""
    return any("\udc80" <= letter <= "\udcff" for letter in text)


def _each_once(names: Sequence[str], place: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{place}: {names.count(twice)} columns are called {twice!r}. Rename all but one.")


def _from_columns(columns: Mapping[str, Any], what: str) -> "pa.Table":
    import pyarrow as pa

    arrays: dict[str, Any] = {}
    for name, values in columns.items():
        values = values.numpy(force=True) if hasattr(values, "numpy") else values
        values = values.to_arrow() if hasattr(values, "to_arrow") else values
        try:
            arrays[str(name)] = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"{what}: column {name!r}: {first_line(error)}.") from None
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"{what}: columns must be equally long, but are {lengths}.")
    return pa.table(arrays)


def _from_pandas(frame: Any, what: str) -> "pa.Table":
    """The columns of a frame; an index with a name is one of them."""
    import pyarrow as pa

    _each_once([str(name) for name in frame.columns], what)
    try:
        return pa.Table.from_pandas(frame, preserve_index=all(name is not None for name in frame.index.names))
    except (pa.ArrowException, TypeError, ValueError) as error:
        why = "; ".join(str(part) for part in error.args)
        raise DataError(f"{what}: the frame cannot be read: {why.rstrip('.')}.") from None


def first_line(error: BaseException) -> str:
    """What another library complains of, as part of a sentence."""
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def write_table(table: "pa.Table", path: Path) -> None:
    """A table as CSV, Parquet or Arrow, by the file's ending; the file is either whole or not there."""
    from pyarrow import csv, feather, parquet

    writers = {".csv": csv.write_csv, ".parquet": parquet.write_table, ".arrow": feather.write_feather}
    if path.suffix not in writers:
        raise DataError(f"{path.name}: cannot tell what kind of file to write. Known: {', '.join(writers)}.")
    if not path.parent.exists():
        raise MissingFileError(f"{path}: there is no folder {path.parent}.")
    beside = path.with_name(path.name + ".part")
    writers[path.suffix](table, str(beside))
    beside.replace(path)
