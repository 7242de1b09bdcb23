"""The tables, their rules, and the expected values of their rows."""

import array
from dataclasses import dataclass
from pathlib import Path

COLUMNS = """
  id INTEGER NOT NULL PRIMARY KEY {auto}, first_name VARCHAR(40) NOT NULL, last_name VARCHAR(40) NOT NULL,
  street VARCHAR(80) NOT NULL, county VARCHAR(40) NOT NULL, post_code VARCHAR(12) NOT NULL, phone VARCHAR(20),
  credit_limit DECIMAL(10,2) NOT NULL, birthday DATE, wants_news TINYINT(1) NOT NULL, note TEXT,
  modified_at {modified}
"""

# Row N of the sequence, with version 1 of the address in the form of common.c.
ROW = """
  {n}, {first}, {last}, '1 High Street', 'County 1', 'CT1 1AA', {phone}, {n} % 1000, {birthday}, {n} % 2,
  CASE WHEN {n} % 4 = 0 THEN 'Rings twice, and leaves the parcel with the neighbour on the left.' END
"""

NAMES = "id, first_name, last_name, street, county, post_code, phone, credit_limit, birthday, wants_news, note"

RULES = """
resource: {resource}
sections:
  person:
    table: {table}
    groups:
      firstName: first_name
      lastName: last_name
      address:
        fields: {{street: street, county: county, postCode: post_code}}
      phone: phone
      creditLimit: credit_limit
      birthday: birthday
      wantsNews: {{column: wants_news, type: boolean}}
      note: note
    {read_only}
"""

ERRANDS = """
  errands:
    list: true
    table: errands
    parent: {person_id: id}
    groups:
      errand:
        fields: {name: name, quantity: quantity}
"""

# Rows of the list in each record of the resource that has one.
ERRANDS_EACH = 3


@dataclass
class Table:
    """A table of people with the ids 1 to `rows`. Its state file contains the version of each row's address."""

    name: str
    rows: int
    folder: Path

    @property
    def state(self) -> Path:
        return self.folder / (self.name + ".versions")

    def forget(self) -> None:
        """Every row is at version 1 again."""
        with open(self.state, "wb") as file:
            (array.array("I", [1]) * self.rows).tofile(file)

    def versions(self) -> int:
        """The sum of all versions that were written."""
        numbers = array.array("I")
        with open(self.state, "rb") as file:
            numbers.fromfile(file, self.rows)
        return sum(numbers)

    def rules(self, folder: Path, read_only: str = "read-only: {modified: modified_at}") -> None:
        text = RULES.format(resource=self.name, table=self.name, read_only=read_only)
        (folder / (self.name + ".yaml")).write_text(text)


def mariadb_sql(table: Table) -> str:
    columns = COLUMNS.format(
        auto="AUTO_INCREMENT",
        modified="TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP")
    row = ROW.format(
        n="seq", first="CONCAT('Name', seq % 997)", last="CONCAT('Family', seq)",
        phone="CONCAT('+44 20 ', 1000000 + seq)", birthday="'1950-01-01' + INTERVAL (seq % 20000) DAY")
    return (
        f"CREATE TABLE {table.name} ({columns}) ENGINE=InnoDB;\n"
        f"INSERT INTO {table.name} ({NAMES}) SELECT {row} FROM seq_1_to_{table.rows};\n")


def errands_sql(people: Table) -> str:
    """A list of three rows for each person."""
    return (
        "CREATE TABLE errands (id INTEGER NOT NULL PRIMARY KEY AUTO_INCREMENT, person_id INTEGER NOT NULL,"
        " name VARCHAR(40) NOT NULL, quantity VARCHAR(20) NOT NULL, KEY (person_id)) ENGINE=InnoDB;\n"
        "INSERT INTO errands (person_id, name, quantity)"
        f" SELECT 1 + (seq - 1) DIV {ERRANDS_EACH}, CONCAT('Beans ', seq % 83), '1 tin'"
        f" FROM seq_1_to_{people.rows * ERRANDS_EACH};\n")


def errands_rules(people: Table, folder: Path) -> None:
    text = RULES.format(resource="families", table=people.name, read_only="read-only: {modified: modified_at}")
    (folder / "families.yaml").write_text(text + ERRANDS)


def sqlite_sql(table: Table) -> str:
    columns = COLUMNS.format(auto="", modified="TEXT")
    row = ROW.format(
        n="n", first="'Name' || (n % 997)", last="'Family' || n", phone="'+44 20 ' || (1000000 + n)",
        birthday="date('1950-01-01', (n % 20000) || ' days')")
    return (
        "PRAGMA journal_mode = WAL;\n"
        f"CREATE TABLE {table.name} ({columns});\n"
        f"WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {table.rows})\n"
        f"INSERT INTO {table.name} ({NAMES}) SELECT {row} FROM numbers;\n")


def versions_sql(table: Table, integer: str) -> str:
    """The sum of all versions in the table."""
    space = "LOCATE(' ', street)" if integer == "UNSIGNED" else "INSTR(street, ' ')"
    return f"SELECT SUM(CAST(SUBSTR(street, 1, {space} - 1) AS {integer})) FROM {table.name}"
