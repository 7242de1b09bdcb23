BEGIN TRANSACTION;
CREATE TABLE base (
  resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0, pulled INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (resource, key)) WITHOUT ROWID;
INSERT INTO "base" VALUES('aisles','5','5','{"id": 5, "aisle": {"name": "Tins"}}',1,1);
INSERT INTO "base" VALUES('shoppers','123','123','{"id": 123, "customer": {"firstName": "Joe", "lastName": "Shaw", "street": "1 High St", "county": "Kent", "postCode": "CT1 1AA", "points": 5, "status": "new", "tags": [], "modified": "2016-02-29T08:15:00Z"}, "groceries": [{"id": 1, "name": "Beans", "quantity": "1 tin", "aisle": 5}, {"id": 2, "name": "Tea", "quantity": "1 box", "aisle": null}], "card": null}',1,1);
INSERT INTO "base" VALUES('shoppers','124','124','{"id": 124, "customer": {"firstName": "Ann", "lastName": "Shaw", "street": "1 High St", "county": "Kent", "postCode": "CT1 1AA", "points": 5, "status": "closed", "tags": [], "modified": "2016-02-29T08:15:00Z"}, "groceries": [], "card": null}',1,3);
CREATE TABLE creation (temporary TEXT PRIMARY KEY, push INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "creation" VALUES('tmp:03222d52-46d7-47b6-9bb6-6d2684c459d0',5);
INSERT INTO "creation" VALUES('tmp:5d3825f1-b473-4157-9bfb-d67c0efaa494',4);
CREATE TABLE edit (
  push INTEGER NOT NULL, place INTEGER NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL,
  changes TEXT NOT NULL, PRIMARY KEY (push, place)) WITHOUT ROWID;
INSERT INTO "edit" VALUES(1,0,'shoppers','124','124','[{"section": "customer", "do": "edit", "groups": {"status": {"old": {"status": "new"}, "new": {"status": "open"}}}}]');
INSERT INTO "edit" VALUES(2,0,'shoppers','123','123','[{"section": "customer", "do": "edit", "groups": {"points": {"old": {"points": 5}, "new": {"points": 7}}}}]');
INSERT INTO "edit" VALUES(3,0,'shoppers','123','123','[{"section": "customer", "do": "edit", "groups": {"firstName": {"old": {"firstName": "Joe"}, "new": {"firstName": "Bob"}}}}]');
INSERT INTO "edit" VALUES(4,0,'aisles','tmp:5d3825f1-b473-4157-9bfb-d67c0efaa494','"tmp:5d3825f1-b473-4157-9bfb-d67c0efaa494"','[{"section": "aisle", "do": "create", "new": {"name": "Oils"}}]');
INSERT INTO "edit" VALUES(5,0,'shoppers','123','123','[{"section": "groceries", "do": "create", "new": {"name": "Olive oil", "aisle": "tmp:5d3825f1-b473-4157-9bfb-d67c0efaa494"}, "id": "tmp:03222d52-46d7-47b6-9bb6-6d2684c459d0"}]');
CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body TEXT NOT NULL);
INSERT INTO "event" VALUES(1,'refused','{"entry": 1}');
CREATE TABLE lease (one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT NOT NULL, beat REAL NOT NULL);
CREATE TABLE mapping (temporary TEXT PRIMARY KEY, real TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('device','"79acea9a-657b-48c0-bdd2-ea786d05429e"');
INSERT INTO "meta" VALUES('edition','"r1"');
INSERT INTO "meta" VALUES('feed','"feed-1"');
INSERT INTO "meta" VALUES('format','1');
INSERT INTO "meta" VALUES('generation','1');
INSERT INTO "meta" VALUES('lastSynced','1700000000.0');
INSERT INTO "meta" VALUES('pulls','3');
INSERT INTO "meta" VALUES('revision','2');
INSERT INTO "meta" VALUES('rules','"{\"version\": \"r1\", \"limits\": {\"body\": 100000, \"edits\": 100, \"items\": 1000, \"page\": 500}, \"resources\": [{\"resource\": \"shoppers\", \"sections\": [{\"section\": \"customer\", \"kind\": \"root\", \"key\": [{\"column\": \"id\", \"type\": \"integer\", \"generated\": true}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"firstName\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"firstName\", \"type\": \"text\", \"nullable\": false, \"maximumCharacters\": 20}]}, {\"group\": \"lastName\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"lastName\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"address\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"street\", \"type\": \"text\", \"nullable\": true}, {\"field\": \"county\", \"type\": \"text\", \"nullable\": true}, {\"field\": \"postCode\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"points\", \"onConflict\": \"client-wins\", \"merge\": \"add\", \"fields\": [{\"field\": \"points\", \"type\": \"integer\", \"nullable\": false, \"minimum\": \"-9223372036854775808\", \"maximum\": \"9223372036854775807\"}]}, {\"group\": \"status\", \"onConflict\": \"reject\", \"transitions\": {\"new\": [\"open\"], \"open\": [\"closed\", \"new\"], \"closed\": []}, \"fields\": [{\"field\": \"status\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"tags\", \"onConflict\": \"client-wins\", \"merge\": \"set\", \"fields\": [{\"field\": \"tags\", \"type\": \"set\", \"nullable\": true}]}], \"readOnly\": [{\"field\": \"modified\", \"type\": \"timestamp\", \"nullable\": true, \"fraction\": 0}]}, {\"section\": \"groceries\", \"kind\": \"list\", \"key\": [{\"column\": \"id\", \"type\": \"integer\", \"generated\": true}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"item\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"name\", \"type\": \"text\", \"nullable\": false}, {\"field\": \"quantity\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"aisle\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"aisle\", \"type\": \"integer\", \"nullable\": true, \"references\": \"aisles\", \"minimum\": \"-9223372036854775808\", \"maximum\": \"9223372036854775807\"}]}], \"readOnly\": []}, {\"section\": \"card\", \"kind\": \"singleton\", \"key\": [{\"column\": \"id\", \"type\": \"integer\", \"generated\": true}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"number\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"number\", \"type\": \"text\", \"nullable\": true}]}], \"readOnly\": []}], \"shape\": \"s1\"}, {\"resource\": \"aisles\", \"sections\": [{\"section\": \"aisle\", \"kind\": \"root\", \"key\": [{\"column\": \"id\", \"type\": \"integer\", \"generated\": true}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"name\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"name\", \"type\": \"text\", \"nullable\": false}]}], \"readOnly\": []}], \"shape\": \"s1\"}, {\"resource\": \"orders\", \"sections\": [{\"section\": \"order\", \"kind\": \"root\", \"key\": [{\"column\": \"no\", \"type\": \"text\", \"generated\": false}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"note\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"note\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"customer\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"customer\", \"type\": \"integer\", \"nullable\": true, \"references\": \"shoppers\", \"minimum\": \"-9223372036854775808\", \"maximum\": \"9223372036854775807\"}]}], \"readOnly\": []}], \"shape\": \"s1\"}]}"');
INSERT INTO "meta" VALUES('rulesVersion','"r1"');
INSERT INTO "meta" VALUES('server','"http://server.test"');
INSERT INTO "meta" VALUES('shapes','{"shoppers": "s1", "aisles": "s1", "orders": "s1"}');
INSERT INTO "meta" VALUES('user','"test"');
CREATE TABLE push (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL, key TEXT, body BLOB, atomic TEXT,
  rules TEXT, doubt INTEGER NOT NULL DEFAULT 0, pulls INTEGER NOT NULL DEFAULT 0,
  creates TEXT NOT NULL DEFAULT '[]', refusal TEXT, at REAL NOT NULL);
INSERT INTO "push" VALUES(1,3,NULL,NULL,NULL,'r1',0,2,'[]','{"problem": {"type": "urn:fieldmerge:problem:rejected", "title": "rejected", "status": 409, "detail": "rejected", "code": "rejected", "retry": false}, "fault": 0, "record": {"id": 124, "customer": {"firstName": "Ann", "lastName": "Shaw", "street": "1 High St", "county": "Kent", "postCode": "CT1 1AA", "points": 5, "status": "closed", "tags": [], "modified": "2016-02-29T08:15:00Z"}, "groceries": [], "card": null}, "hasRecord": true}',1700000000.0);
INSERT INTO "push" VALUES(2,1,'e24e96bc-e843-4ee2-b5b7-931965830f3b',X'7B226B6579223A2265323465393662632D653834332D346565322D623562372D393331393635383330663362222C2266656564223A22666565642D31222C2273656E74223A22323032332D31312D31345432323A31333A32302E3030305A222C2272756C6573223A227231222C226564697473223A5B7B227265736F75726365223A2273686F7070657273222C226964223A3132332C226368616E6765736574223A7B22637573746F6D6572223A7B22706F696E7473223A7B226F6C64223A352C226E6577223A377D7D7D7D5D7D',NULL,'r1',1,3,'[]',NULL,1700000000.0);
INSERT INTO "push" VALUES(3,0,NULL,NULL,NULL,'r1',0,0,'[]',NULL,1700000000.0);
INSERT INTO "push" VALUES(4,0,NULL,NULL,NULL,'r1',0,0,'["tmp:5d3825f1-b473-4157-9bfb-d67c0efaa494"]',NULL,1700000000.0);
INSERT INTO "push" VALUES(5,0,NULL,NULL,NULL,'r1',0,0,'["tmp:03222d52-46d7-47b6-9bb6-6d2684c459d0"]',NULL,1700000000.0);
CREATE TABLE ticket (
  token TEXT PRIMARY KEY, seq INTEGER NOT NULL, push INTEGER, id TEXT NOT NULL, key TEXT NOT NULL,
  records TEXT NOT NULL, outcome TEXT, at REAL NOT NULL) WITHOUT ROWID;
INSERT INTO "ticket" VALUES('0c84e3bc-497e-4615-9c9a-ca2df89e790a',5,5,'123','123','[["shoppers", "123"]]',NULL,1700000000.0);
INSERT INTO "ticket" VALUES('0f508a25-8765-458d-81a3-9de3453d0da8',1,1,'124','124','[["shoppers", "124"]]','{"status": "refused", "conflicts": [], "problem": {"type": "urn:fieldmerge:problem:rejected", "title": "rejected", "status": 409, "detail": "rejected", "code": "rejected", "retry": false}, "record": {"id": 124, "customer": {"firstName": "Ann", "lastName": "Shaw", "street": "1 High St", "county": "Kent", "postCode": "CT1 1AA", "points": 5, "status": "closed", "tags": [], "modified": "2016-02-29T08:15:00Z"}, "groceries": [], "card": null}}',1700000000.0);
INSERT INTO "ticket" VALUES('111857ea-71a6-424b-85d6-c85f39221a56',2,2,'123','123','[["shoppers", "123"]]',NULL,1700000000.0);
INSERT INTO "ticket" VALUES('7c97436c-890d-41d0-8aa0-7a0d32b0f18d',4,4,'"tmp:5d3825f1-b473-4157-9bfb-d67c0efaa494"','tmp:5d3825f1-b473-4157-9bfb-d67c0efaa494','[["aisles", "tmp:5d3825f1-b473-4157-9bfb-d67c0efaa494"]]',NULL,1700000000.0);
INSERT INTO "ticket" VALUES('a04c96f8-39f7-4bec-b1fe-757cc5c2b3ef',3,3,'123','123','[["shoppers", "123"]]',NULL,1700000000.0);
CREATE TABLE tombstone (
  resource TEXT NOT NULL, key TEXT NOT NULL, pulled INTEGER NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID;
CREATE INDEX push_state ON push (state, seq);
CREATE INDEX edit_record ON edit (resource, key, push);
CREATE INDEX ticket_push ON ticket (push);
CREATE INDEX ticket_key ON ticket (key, seq);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('push',5);
INSERT INTO "sqlite_sequence" VALUES('event',1);
COMMIT;
