-- Many clients at once, each with records of its own: nothing that one is told depends on another.
CREATE TABLE racks (id INT NOT NULL PRIMARY KEY);
INSERT INTO racks VALUES (1), (2);
CREATE TABLE pots (id INT NOT NULL PRIMARY KEY, a VARCHAR(20) NOT NULL, b VARCHAR(20), n INT NOT NULL DEFAULT 0,
  code VARCHAR(20) UNIQUE, rack INT, CONSTRAINT pots_rack FOREIGN KEY (rack) REFERENCES racks (id));
CREATE TABLE lids (id INT NOT NULL PRIMARY KEY, pot INT NOT NULL, c VARCHAR(20), m INT NOT NULL DEFAULT 0);
INSERT INTO pots (id, a, code) VALUES (5000, 'a', 'taken');
