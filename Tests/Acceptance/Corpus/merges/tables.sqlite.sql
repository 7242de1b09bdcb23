CREATE TABLE sheets (
  id INTEGER PRIMARY KEY AUTOINCREMENT, stock INTEGER, price DECIMAL(10,2), small TINYINT, best INTEGER, worst DATE,
  tags VARCHAR(60), words JSON, notes TEXT, settings JSON, cost DECIMAL(8,2), costed DATETIME, shown BOOLEAN,
  width INTEGER, height INTEGER);
CREATE TABLE sheet_lines (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sheet INTEGER NOT NULL, n INTEGER, labels VARCHAR(40), remark VARCHAR(60),
  CONSTRAINT sheet_lines_sheet FOREIGN KEY (sheet) REFERENCES sheets (id) ON DELETE CASCADE);
INSERT INTO sqlite_sequence VALUES ('sheets', 100000), ('sheet_lines', 200000);
