-- People, the areas that they live in, what they noted and what they lent. Some tables are shown by two resources.
CREATE TABLE areas (id INTEGER PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) NOT NULL UNIQUE, head INTEGER);
CREATE TABLE people (
  id INTEGER PRIMARY KEY AUTO_INCREMENT, email VARCHAR(40) UNIQUE, name VARCHAR(30) NOT NULL,
  score INTEGER NOT NULL DEFAULT 0, budget INTEGER NOT NULL DEFAULT 0, area INTEGER, street VARCHAR(30), town VARCHAR(30),
  secret VARCHAR(20), state VARCHAR(10) NOT NULL DEFAULT 'new', unseen VARCHAR(10) DEFAULT 'u',
  doubled INTEGER GENERATED ALWAYS AS (score * 2) VIRTUAL,
  CONSTRAINT people_score CHECK (score > -1000),
  CONSTRAINT people_area FOREIGN KEY (area) REFERENCES areas (id) ON DELETE SET NULL);
CREATE TABLE profiles (
  person INTEGER NOT NULL PRIMARY KEY, motto VARCHAR(40), height INTEGER,
  CONSTRAINT profiles_person FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE);
CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTO_INCREMENT, person INTEGER NOT NULL, body VARCHAR(60) NOT NULL, n INTEGER NOT NULL DEFAULT 0,
  rank_no INTEGER, gone INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT notes_person FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE);
CREATE TABLE hobbies (
  person INTEGER NOT NULL, word VARCHAR(20) NOT NULL, since INTEGER, PRIMARY KEY (person, word),
  CONSTRAINT hobbies_person FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE);
CREATE TABLE loans (
  id INTEGER PRIMARY KEY AUTO_INCREMENT, person INTEGER NOT NULL, label VARCHAR(20), n INTEGER NOT NULL,
  CONSTRAINT loans_person FOREIGN KEY (person) REFERENCES people (id));

INSERT INTO areas (id, name) VALUES (1, 'South'), (2, 'North'), (3, 'East'), (4, 'West');
INSERT INTO people (id, email, name, score, budget, area, street, town, secret, state) VALUES
  (1, 'ann@x', 'Ann', 10, 0, 1, '1 High St', 'Deal', 'pin1', 'new'), (2, 'bob@x', 'Bob', 20, 5, 1, '2 High St', 'Deal', NULL, 'open'),
  (3, 'cy@x', 'Cy', 30, 5, 2, NULL, NULL, 'pin3', 'new'), (4, 'dee@x', 'Dee', 0, 0, NULL, '4 Low St', 'Hythe', NULL, 'new'),
  (5, NULL, 'Eve', -5, -10, 3, '5 Low St', 'Hythe', 'pin5', 'open'), (6, 'fay@x', 'Fay', 60, 50, 2, 'Quay', 'Ryde', 'pin6', 'closed'),
  (7, 'gus@x', 'Gus', 7, 0, NULL, 'Quay', 'Ryde', NULL, 'new'), (8, 'hal@x', 'Zoë', 8, 0, 3, NULL, NULL, NULL, 'open');
INSERT INTO profiles VALUES (1, 'carpe diem', 170), (2, NULL, 180), (3, 'festina lente', NULL), (6, 'so what', 165);
INSERT INTO notes (id, person, body, n, rank_no, gone) VALUES
  (1, 1, 'one', 1, 2, 0), (2, 1, 'two', 2, 1, 0), (3, 2, 'three', 3, NULL, 0), (4, 3, 'four', 4, 1, 0), (5, 3, 'hidden', 5, 2, 1),
  (6, 6, 'six', 6, 1, 0), (7, 7, 'seven', 7, 1, 0), (8, 7, 'eight', 8, 1, 0);
INSERT INTO hobbies VALUES (1, 'chess', 1990), (1, 'tea', NULL), (2, 'chess', 2001), (4, 'rowing', 2010), (6, 'tea', 1999);
INSERT INTO loans (id, person, label, n) VALUES (1, 1, 'saw', 1), (2, 2, 'rope', 2), (3, 2, 'rope', 3), (4, 8, 'lamp', 1);
