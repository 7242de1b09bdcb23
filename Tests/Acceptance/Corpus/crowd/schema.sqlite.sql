WITH RECURSIVE rows (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM rows WHERE id < 72)
INSERT INTO pots (id, a, b, n, code, rack) SELECT id, 'a', 'b', 5, 'c' || id, 1 FROM rows;
WITH RECURSIVE rows (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM rows WHERE id < 72)
INSERT INTO lids (id, pot, c) SELECT id, id, 'c' FROM rows;
