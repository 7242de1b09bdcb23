-- What only MariaDB has: its types, views, tables without transactions, texts in old character sets, zero dates, and
-- indexes and keys that take letters of either case for the same.
SET sql_mode = 'STRICT_ALL_TABLES';
CREATE TABLE odds (
  id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  old_text VARCHAR(20) CHARACTER SET latin1, mood ENUM('calm','glad','it''s'), parts SET('x','y','z'),
  on_off BIT(1), mask BIT(9), founded YEAR, opens TIME, seen DATETIME(3), stamped TIMESTAMP NULL, born DATE,
  ratio FLOAT, weight DOUBLE, amount DECIMAL(12,3), large BIGINT UNSIGNED, code CHAR(5) COLLATE utf8mb4_general_ci UNIQUE,
  raw VARBINARY(8), tag UUID, address INET6, extra JSON, wide DECIMAL(6,2) UNSIGNED,
  upper_code VARCHAR(10), modified TIMESTAMP NULL) ENGINE=InnoDB AUTO_INCREMENT = 100001;
INSERT INTO odds VALUES
  (1, 'café', 'calm', 'x,z', b'1', b'100000001', 1999, '08:30:00', '2026-01-01 10:00:00.250', '2026-01-01 10:00:00', '1970-01-01', 3.3, 0.1, 12.5, 18446744073709551615, 'AB', x'00FF', '123e4567-e89b-12d3-a456-426655440000', '2001:db8::1', '{"a":[1,2]}', 1.5, 'ABC', NULL),
  (2, 'plain', 'glad', '', b'0', b'0', 2000, '-01:00:00', '0000-00-00 00:00:00', NULL, '0000-00-00', 16777216, 1e300, -0.001, 0, 'cd', x'', NULL, '::', 'null', 0, 'X', NULL),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2020-00-00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE crews (name VARCHAR(20) COLLATE utf8mb4_general_ci NOT NULL PRIMARY KEY, size INT, motto VARCHAR(40));
INSERT INTO crews VALUES ('Blue', 3, 'go'), ('Red', 4, NULL), ('Straße', 5, 'x');
CREATE TABLE goods (id INT NOT NULL PRIMARY KEY, label VARCHAR(20), n INT NOT NULL DEFAULT 0, hidden INT NOT NULL DEFAULT 0,
  thousands SMALLINT AS (n * 1000) PERSISTENT);
INSERT INTO goods (id, label, n, hidden) VALUES (1, 'one', 1, 0), (2, 'two', 2, 0), (3, 'three', 3, 1), (4, 'four', 4, 0), (5, 'five', 5, 0);
CREATE VIEW shelf AS SELECT id, label, n FROM goods WHERE hidden = 0;
CREATE TABLE bins (id INT NOT NULL PRIMARY KEY, label VARCHAR(20) NOT NULL, state VARCHAR(20)) ENGINE=MyISAM;
CREATE TABLE bin_parts (id INT NOT NULL PRIMARY KEY, bin INT NOT NULL, code VARCHAR(20) UNIQUE) ENGINE=Aria;
INSERT INTO bins VALUES (1, 'one', 'new'), (2, 'two', 'new'), (3, 'three', 'old');
INSERT INTO bin_parts VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c');
CREATE TRIGGER odds_upper BEFORE UPDATE ON odds FOR EACH ROW SET NEW.upper_code = UPPER(NEW.upper_code);
