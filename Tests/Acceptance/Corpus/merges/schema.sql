-- Every merge function; three resources over the same rows differ in what decides where a function cannot.
INSERT INTO sheets (id, stock, price, small, best, worst, tags, words, notes, settings, cost, costed, shown, width, height) VALUES
  (1, 10, 12.50, 100, 5, '2026-01-10', 'red,blue', '["a","b"]', 'one two three
four five six
seven', '{"a":1,"b":{"c":2,"d":[1,2]},"e":"x"}', 1.00, '2026-01-01 10:00:00', 1, 3, 4),
  (2, 0, 0, 120, 9, '2026-02-10', '', '[]', '', '{}', 2.00, '2026-01-02 10:00:00', 0, 1, 1),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, -4, -3.25, -100, -9, '2020-02-29', 'x', '["z"]', 'a line', '{"list":[{"id":1,"n":1},{"id":2,"n":2}]}', 0, NULL, 1, 0, 0),
  (5, 7, 99999999.99, 1, 1, '2026-03-01', 'b,a,c', '["p","q","r"]', 'x y z', '[1,2,3]', 5.55, '2026-05-05 05:05:05', 0, 9, 8);
INSERT INTO sheet_lines (id, sheet, n, labels, remark) VALUES (1, 1, 1, 'a,b', 'first'), (2, 1, 2, '', 'second'), (3, 2, 3, 'c', NULL),
  (4, 4, 4, NULL, 'x y z'), (5, 5, 5, 'a', 'one two');
