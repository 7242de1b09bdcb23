-- What happens rarely: a value that a foreign key changes behind the push, a record that is larger than the gateway
-- serves, rows that no unique index tells apart, texts that the database cannot read.
CREATE TABLE brands (id INT NOT NULL PRIMARY KEY, code VARCHAR(20) NOT NULL UNIQUE);
CREATE TABLE makers (code VARCHAR(20) NOT NULL PRIMARY KEY,
  CONSTRAINT makers_code FOREIGN KEY (code) REFERENCES brands (code) ON UPDATE CASCADE);
CREATE TABLE cars (id INT NOT NULL PRIMARY KEY, brand VARCHAR(20), n INT,
  CONSTRAINT cars_brand FOREIGN KEY (brand) REFERENCES makers (code) ON UPDATE CASCADE);
INSERT INTO brands VALUES (1, 'a'), (2, 'b');
INSERT INTO makers VALUES ('a'), ('b');
INSERT INTO cars VALUES (1, 'b', 0), (2, 'a', 1);
CREATE TABLE shops (id INT NOT NULL PRIMARY KEY, name VARCHAR(20));
CREATE TABLE wares (id INT NOT NULL PRIMARY KEY, shop INT NOT NULL, label VARCHAR(20));
INSERT INTO shops VALUES (1, 'small'), (2, 'large');
INSERT INTO wares VALUES (1, 1, 'w1'), (2, 1, 'w1'), (3, 1, 'w3');
CREATE TABLE guests (id INT NOT NULL PRIMARY KEY, name VARCHAR(20), town VARCHAR(20));
INSERT INTO guests VALUES (1, 'Ann', 'Deal'), (2, 'Ann', 'Deal'), (3, 'Bob', NULL);
