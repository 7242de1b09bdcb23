INSERT INTO pots (id, a, b, n, code, rack) SELECT seq, 'a', 'b', 5, CONCAT('c', seq), 1 FROM seq_1_to_72;
INSERT INTO lids (id, pot, c) SELECT seq, seq, 'c' FROM seq_1_to_72;
