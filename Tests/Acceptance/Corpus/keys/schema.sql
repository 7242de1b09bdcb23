-- Keys that clients choose: texts, and several columns; what hangs on them, in tables that no rule names too.
CREATE TABLE docs (code VARCHAR(20) NOT NULL PRIMARY KEY, title VARCHAR(40), author VARCHAR(20), pages INT);
CREATE TABLE doc_lines (
  doc VARCHAR(20) NOT NULL, line INT NOT NULL, words VARCHAR(40), n INT, PRIMARY KEY (doc, line),
  CONSTRAINT doc_lines_doc FOREIGN KEY (doc) REFERENCES docs (code));
CREATE TABLE covers (doc VARCHAR(20) NOT NULL PRIMARY KEY, colour VARCHAR(20), artist VARCHAR(20));
CREATE TABLE stamps (
  id INT NOT NULL PRIMARY KEY, doc VARCHAR(20), kind VARCHAR(10),
  CONSTRAINT stamps_doc FOREIGN KEY (doc) REFERENCES docs (code) ON DELETE CASCADE);
CREATE TABLE marks (
  id INT NOT NULL PRIMARY KEY, stamp INT, doc VARCHAR(20),
  CONSTRAINT marks_stamp FOREIGN KEY (stamp) REFERENCES stamps (id) ON DELETE SET NULL);
CREATE TABLE fields (x INT NOT NULL, y INT NOT NULL, crop VARCHAR(20), yield INT, PRIMARY KEY (x, y));
CREATE TABLE plants (
  x INT NOT NULL, y INT NOT NULL, z INT NOT NULL, name VARCHAR(20), state VARCHAR(10) NOT NULL DEFAULT 'seed',
  PRIMARY KEY (x, y, z));
CREATE TABLE quotes (id INT NOT NULL PRIMARY KEY, doc VARCHAR(20), x INT, y INT, said VARCHAR(30),
  CONSTRAINT quotes_doc FOREIGN KEY (doc) REFERENCES docs (code),
  CONSTRAINT quotes_field FOREIGN KEY (x, y) REFERENCES fields (x, y));

INSERT INTO docs VALUES ('A-1', 'Alpha', 'ann', 10), ('A-2', 'Beta', 'bob', 20), ('a,b', 'Comma', NULL, NULL), ('50%', 'Per cent', 'cy', 5),
  ('ä/ö', 'Slash', 'dee', 7), ('x y', 'Blank', 'ann', 1);
INSERT INTO doc_lines VALUES ('A-1', 1, 'one', 1), ('A-1', 2, 'two', 2), ('A-1', 10, 'ten', 10), ('A-2', 1, 'uno', 1), ('a,b', 1, 'c', 0);
INSERT INTO covers VALUES ('A-1', 'red', 'ann'), ('50%', 'blue', NULL);
INSERT INTO stamps VALUES (1, 'A-1', 'new'), (2, 'x y', 'old'), (3, NULL, 'none');
INSERT INTO marks VALUES (1, 1, 'A-1'), (2, 2, 'x y');
INSERT INTO fields VALUES (1, 1, 'wheat', 5), (1, 2, 'rye', 6), (2, 1, NULL, NULL), (2, 2, 'oats', 0);
INSERT INTO plants VALUES (1, 1, 1, 'a', 'seed'), (1, 1, 2, 'b', 'grown'), (1, 2, 1, 'c', 'seed'), (2, 2, 5, NULL, 'seed');
INSERT INTO quotes VALUES (1, 'A-2', 1, 2, 'so it is'), (2, NULL, NULL, NULL, 'nothing');
