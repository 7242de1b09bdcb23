-- A guild whose keys the database gives: members, the badges that they wear, the seat that they hold; halls and when they
-- are booked; and the guild's events.
CREATE TABLE members (
  id INTEGER PRIMARY KEY AUTO_INCREMENT, badge VARCHAR(20) UNIQUE, name VARCHAR(30) NOT NULL, dues INTEGER NOT NULL DEFAULT 0,
  most INTEGER NOT NULL DEFAULT 100, joined DATE, motto TEXT, prefs TEXT, tags VARCHAR(60), pin VARCHAR(12), phrase VARCHAR(20),
  hint VARCHAR(20), sponsor INTEGER, state VARCHAR(10) NOT NULL DEFAULT 'new', left_on DATE,
  CONSTRAINT members_dues CHECK (dues > -500),
  CONSTRAINT members_sponsor FOREIGN KEY (sponsor) REFERENCES members (id));
CREATE TABLE badges (
  id INTEGER PRIMARY KEY AUTO_INCREMENT, member INTEGER NOT NULL, label VARCHAR(20) NOT NULL, won INTEGER NOT NULL DEFAULT 0,
  lost INTEGER NOT NULL DEFAULT 0, gone INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT badges_member FOREIGN KEY (member) REFERENCES members (id));
CREATE TABLE seats (
  member INTEGER NOT NULL PRIMARY KEY, place VARCHAR(20), cushion VARCHAR(20), void INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT seats_member FOREIGN KEY (member) REFERENCES members (id));
CREATE TABLE halls (code VARCHAR(20) NOT NULL PRIMARY KEY, title VARCHAR(40) NOT NULL, size INTEGER, price DECIMAL(8,2), priced DATETIME);
CREATE TABLE bookings (
  hall VARCHAR(20) NOT NULL, slot INTEGER NOT NULL, start_at INTEGER NOT NULL, end_at INTEGER NOT NULL, host INTEGER,
  PRIMARY KEY (hall, slot),
  CONSTRAINT bookings_hall FOREIGN KEY (hall) REFERENCES halls (code) ON DELETE CASCADE,
  CONSTRAINT bookings_host FOREIGN KEY (host) REFERENCES members (id) ON DELETE SET NULL);
CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTO_INCREMENT, hall VARCHAR(20), title VARCHAR(40), guests INTEGER NOT NULL DEFAULT 0,
  held DATE, host INTEGER, counted INTEGER GENERATED ALWAYS AS (guests + 1) VIRTUAL,
  CONSTRAINT events_hall FOREIGN KEY (hall) REFERENCES halls (code));

INSERT INTO members (id, badge, name, dues, most, joined, motto, prefs, tags, pin, phrase, hint, sponsor, state, left_on) VALUES
  (1, 'b-1', 'Ada', 10, 100, '2020-01-05', 'one two three
four five', '{"seats":[{"id":1,"n":2},{"id":2,"n":0}],"a":1}', 'red,blue', '1111', 'open', 'sesame', NULL, 'new', NULL),
  (2, 'b-2', 'Ben', 20, 30, '2021-02-28', 'say little', '{}', '', NULL, NULL, NULL, 1, 'open', NULL),
  (3, 'b-3', 'Cem', 95, 100, NULL, '', '[{"id":1,"n":5},{"id":3,"n":0}]', 'a,b,c', '3333', 'knock', NULL, 1, 'closed', NULL),
  (4, NULL, 'Dot', 0, 0, '2026-01-05', NULL, NULL, NULL, '4444', NULL, 'none', 2, 'new', NULL),
  (5, 'b-5', 'Eli', -5, 10, '2019-12-31', 'gone', '{"a":2}', 'x', NULL, NULL, NULL, NULL, 'new', '2025-05-05'),
  (6, 'b-6', 'Zoë', 7, 70, '2022-07-07', 'über alles
und mehr', '{"b":{"c":[1,2]}}', 'blue', '6666', 'tap', 'twice', 4, 'open', NULL);
INSERT INTO badges (id, member, label, won, lost, gone) VALUES
  (1, 1, 'chess', 3, 1, 0), (2, 1, 'tea', 0, 0, 0), (3, 1, 'blue', 5, 2, 1), (4, 2, 'chess', 1, 1, 0), (5, 6, 'tea', 9, 8, 0), (6, 6, 'N', 0, 0, 0);
INSERT INTO seats VALUES (1, 'front', 'red', 0), (2, 'back', NULL, 0), (3, 'left', 'blue', 1), (6, NULL, NULL, 0);
INSERT INTO halls VALUES ('A-1', 'Old Hall', 80, 12.50, '2026-01-01 10:00:00'), ('B-7', 'New Hall', NULL, NULL, NULL),
  ('x y', 'Yard', 500, 0.00, '2026-01-02 10:00:00'), ('50%', 'Half', 40, 99.99, '2026-05-06 07:08:09');
INSERT INTO bookings VALUES ('A-1', 1, 9, 10, 1), ('A-1', 2, 10, 12, 2), ('A-1', 12, 5, 6, NULL), ('B-7', 1, 1, 2, 6), ('x y', 3, 7, 8, 3);
INSERT INTO events (id, hall, title, guests, held, host) VALUES
  (1, 'A-1', 'Feast', 30, '2026-06-01', 1), (2, 'B-7', 'Dance', 0, NULL, NULL), (3, NULL, 'Walk', 12, '2026-02-28', 2), (4, 'x y', 'Fair', 400, '2026-04-01', 6);
