UPDATE sqlite_sequence SET seq = 100000 WHERE name = 'areas';
UPDATE sqlite_sequence SET seq = 200000 WHERE name = 'people';
UPDATE sqlite_sequence SET seq = 300000 WHERE name = 'notes';
UPDATE sqlite_sequence SET seq = 400000 WHERE name = 'loans';
CREATE TRIGGER people_words BEFORE UPDATE ON people WHEN NEW.name = 'forbidden'
BEGIN
  SELECT RAISE(ABORT, 'this name is not allowed');
END;
CREATE TRIGGER notes_tidy AFTER INSERT ON notes WHEN NEW.body = 'untidy'
BEGIN
  UPDATE notes SET body = 'tidy' WHERE id = NEW.id;
END;
