UPDATE sqlite_sequence SET seq = 100000 WHERE name = 'members';
UPDATE sqlite_sequence SET seq = 200000 WHERE name = 'badges';
UPDATE sqlite_sequence SET seq = 300000 WHERE name = 'events';
