INSERT INTO wares SELECT seq + 100, 2, 'many' FROM seq_1_to_60;
