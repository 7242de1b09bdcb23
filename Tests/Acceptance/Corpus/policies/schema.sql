-- The same three tables three times: each resource has other policies.
CREATE TABLE drop_roots (id INT NOT NULL PRIMARY KEY, a VARCHAR(20), b VARCHAR(20), c INT, d VARCHAR(20), e VARCHAR(20));
CREATE TABLE drop_items (id INT NOT NULL PRIMARY KEY, root INT NOT NULL, a VARCHAR(20), n INT, gone INT NOT NULL DEFAULT 0);
CREATE TABLE drop_sides (root INT NOT NULL PRIMARY KEY, a VARCHAR(20), n INT);
INSERT INTO drop_roots VALUES (1, 'a', 'b', 1, 'd', 'e'), (2, 'a', 'b', 2, 'd', 'e'), (3, 'a', NULL, 3, NULL, NULL), (4, 'x', 'y', NULL, 'z', 'w'),
  (5, 'a', 'b', 5, 'd', 'e'), (6, 'a', 'b', 6, 'd', 'e');
INSERT INTO drop_items VALUES (11, 1, 'a', 1, 0), (12, 1, 'b', 2, 0), (21, 2, 'a', 1, 0), (31, 3, NULL, NULL, 0), (51, 5, 'a', 5, 0), (52, 5, 'b', 5, 1);
INSERT INTO drop_sides VALUES (1, 'a', 1), (2, NULL, 2), (4, 'x', NULL);
CREATE TABLE restore_roots (id INT NOT NULL PRIMARY KEY, a VARCHAR(20), b VARCHAR(20), c INT, d VARCHAR(20), e VARCHAR(20));
CREATE TABLE restore_items (id INT NOT NULL PRIMARY KEY, root INT NOT NULL, a VARCHAR(20), n INT, gone INT NOT NULL DEFAULT 0);
CREATE TABLE restore_sides (root INT NOT NULL PRIMARY KEY, a VARCHAR(20), n INT);
INSERT INTO restore_roots VALUES (1, 'a', 'b', 1, 'd', 'e'), (2, 'a', 'b', 2, 'd', 'e'), (3, 'a', NULL, 3, NULL, NULL), (4, 'x', 'y', NULL, 'z', 'w'),
  (5, 'a', 'b', 5, 'd', 'e'), (6, 'a', 'b', 6, 'd', 'e');
INSERT INTO restore_items VALUES (11, 1, 'a', 1, 0), (12, 1, 'b', 2, 0), (21, 2, 'a', 1, 0), (31, 3, NULL, NULL, 0), (51, 5, 'a', 5, 0), (52, 5, 'b', 5, 1);
INSERT INTO restore_sides VALUES (1, 'a', 1), (2, NULL, 2), (4, 'x', NULL);
CREATE TABLE reject_roots (id INT NOT NULL PRIMARY KEY, a VARCHAR(20), b VARCHAR(20), c INT, d VARCHAR(20), e VARCHAR(20));
CREATE TABLE reject_items (id INT NOT NULL PRIMARY KEY, root INT NOT NULL, a VARCHAR(20), n INT, gone INT NOT NULL DEFAULT 0);
CREATE TABLE reject_sides (root INT NOT NULL PRIMARY KEY, a VARCHAR(20), n INT);
INSERT INTO reject_roots VALUES (1, 'a', 'b', 1, 'd', 'e'), (2, 'a', 'b', 2, 'd', 'e'), (3, 'a', NULL, 3, NULL, NULL), (4, 'x', 'y', NULL, 'z', 'w'),
  (5, 'a', 'b', 5, 'd', 'e'), (6, 'a', 'b', 6, 'd', 'e');
INSERT INTO reject_items VALUES (11, 1, 'a', 1, 0), (12, 1, 'b', 2, 0), (21, 2, 'a', 1, 0), (31, 3, NULL, NULL, 0), (51, 5, 'a', 5, 0), (52, 5, 'b', 5, 1);
INSERT INTO reject_sides VALUES (1, 'a', 1), (2, NULL, 2), (4, 'x', NULL);
