BEGIN TRANSACTION;
CREATE TABLE base (
  resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0, pulled INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (resource, key)) WITHOUT ROWID;
INSERT INTO "base" VALUES('aisles','1001','1001','{"id": 1001, "aisle": {"name": "Oils"}}',1,3);
INSERT INTO "base" VALUES('aisles','5','5','{"id": 5, "aisle": {"name": "Tins"}}',1,1);
INSERT INTO "base" VALUES('shoppers','123','123','{"id": 123, "customer": {"firstName": "Joe", "lastName": "Shaw", "street": "1 High St", "county": "Kent", "postCode": "CT1 1AA", "points": 5, "status": "new", "tags": [], "modified": "2016-02-29T08:15:00Z"}, "groceries": [{"id": 1, "name": "Beans", "quantity": "1 tin", "aisle": 5}, {"id": 2, "name": "Tea", "quantity": "1 box", "aisle": null}], "card": null}',1,1);
INSERT INTO "base" VALUES('shoppers','124','124','{"id": 124, "customer": {"firstName": "Ann", "lastName": "Shaw", "street": "1 High St", "county": "Kent", "postCode": "CT1 1AA", "points": 5, "status": "closed", "tags": [], "modified": "2016-02-29T08:15:00Z"}, "groceries": [], "card": null}',1,4);
CREATE TABLE creation (temporary TEXT PRIMARY KEY, push INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "creation" VALUES('tmp:af84d6d0-f39b-4b22-ba41-a674d7561a83',4);
CREATE TABLE edit (
  push INTEGER NOT NULL, place INTEGER NOT NULL, resource TEXT NOT NULL, key TEXT NOT NULL, id TEXT NOT NULL,
  changes TEXT NOT NULL, PRIMARY KEY (push, place)) WITHOUT ROWID;
INSERT INTO "edit" VALUES(2,0,'shoppers','124','124','[{"section": "customer", "do": "edit", "groups": {"status": {"old": {"status": "new"}, "new": {"status": "open"}}}}]');
INSERT INTO "edit" VALUES(3,0,'shoppers','123','123','[{"section": "customer", "do": "edit", "groups": {"firstName": {"old": {"firstName": "Joe"}, "new": {"firstName": "Bob"}}}}]');
INSERT INTO "edit" VALUES(4,0,'shoppers','123','123','[{"section": "customer", "do": "edit", "groups": {"lastName": {"old": {"lastName": "Shaw"}, "new": {"lastName": "Hill"}}}}, {"section": "groceries", "do": "create", "new": {"name": "Olive oil", "aisle": 1001}, "id": "tmp:af84d6d0-f39b-4b22-ba41-a674d7561a83"}]');
CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body TEXT NOT NULL);
INSERT INTO "event" VALUES(1,'refused','{"entry": 2}');
CREATE TABLE lease (one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT NOT NULL, beat REAL NOT NULL);
CREATE TABLE mapping (temporary TEXT PRIMARY KEY, real TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "mapping" VALUES('tmp:821b80ad-5da0-404c-80cd-56862c8ec192','1001');
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('device','"e2d4c668-0760-40a5-9917-7889d167bbd5"');
INSERT INTO "meta" VALUES('feed','"feed-1"');
INSERT INTO "meta" VALUES('format','1');
INSERT INTO "meta" VALUES('generation','1');
INSERT INTO "meta" VALUES('lastSynced','1700000000.0');
INSERT INTO "meta" VALUES('pulls','4');
INSERT INTO "meta" VALUES('revision','3');
INSERT INTO "meta" VALUES('rules','"{\"version\": \"r1\", \"limits\": {\"body\": 100000, \"edits\": 100, \"items\": 1000, \"page\": 500}, \"resources\": [{\"resource\": \"shoppers\", \"sections\": [{\"section\": \"customer\", \"kind\": \"root\", \"key\": [{\"column\": \"id\", \"type\": \"integer\", \"generated\": true}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"firstName\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"firstName\", \"type\": \"text\", \"nullable\": false, \"maximumCharacters\": 20}]}, {\"group\": \"lastName\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"lastName\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"address\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"street\", \"type\": \"text\", \"nullable\": true}, {\"field\": \"county\", \"type\": \"text\", \"nullable\": true}, {\"field\": \"postCode\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"points\", \"onConflict\": \"client-wins\", \"merge\": \"add\", \"fields\": [{\"field\": \"points\", \"type\": \"integer\", \"nullable\": false, \"minimum\": \"-9223372036854775808\", \"maximum\": \"9223372036854775807\"}]}, {\"group\": \"status\", \"onConflict\": \"reject\", \"transitions\": {\"new\": [\"open\"], \"open\": [\"closed\", \"new\"], \"closed\": []}, \"fields\": [{\"field\": \"status\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"tags\", \"onConflict\": \"client-wins\", \"merge\": \"set\", \"fields\": [{\"field\": \"tags\", \"type\": \"set\", \"nullable\": true}]}], \"readOnly\": [{\"field\": \"modified\", \"type\": \"timestamp\", \"nullable\": true, \"fraction\": 0}]}, {\"section\": \"groceries\", \"kind\": \"list\", \"key\": [{\"column\": \"id\", \"type\": \"integer\", \"generated\": true}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"item\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"name\", \"type\": \"text\", \"nullable\": false}, {\"field\": \"quantity\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"aisle\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"aisle\", \"type\": \"integer\", \"nullable\": true, \"references\": \"aisles\", \"minimum\": \"-9223372036854775808\", \"maximum\": \"9223372036854775807\"}]}], \"readOnly\": []}, {\"section\": \"card\", \"kind\": \"singleton\", \"key\": [{\"column\": \"id\", \"type\": \"integer\", \"generated\": true}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"number\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"number\", \"type\": \"text\", \"nullable\": true}]}], \"readOnly\": []}]}, {\"resource\": \"aisles\", \"sections\": [{\"section\": \"aisle\", \"kind\": \"root\", \"key\": [{\"column\": \"id\", \"type\": \"integer\", \"generated\": true}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"name\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"name\", \"type\": \"text\", \"nullable\": false}]}], \"readOnly\": []}]}, {\"resource\": \"orders\", \"sections\": [{\"section\": \"order\", \"kind\": \"root\", \"key\": [{\"column\": \"no\", \"type\": \"text\", \"generated\": false}], \"onMissing\": \"drop\", \"onDeleteConflict\": \"delete\", \"groups\": [{\"group\": \"note\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"note\", \"type\": \"text\", \"nullable\": true}]}, {\"group\": \"customer\", \"onConflict\": \"client-wins\", \"fields\": [{\"field\": \"customer\", \"type\": \"integer\", \"nullable\": true, \"references\": \"shoppers\", \"minimum\": \"-9223372036854775808\", \"maximum\": \"9223372036854775807\"}]}], \"readOnly\": []}]}]}"');
INSERT INTO "meta" VALUES('rulesVersion','"r1"');
INSERT INTO "meta" VALUES('server','"http://server.test"');
INSERT INTO "meta" VALUES('user','"test"');
CREATE TABLE push (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL, key TEXT, body BLOB, atomic TEXT,
  rules TEXT, doubt INTEGER NOT NULL DEFAULT 0, pulls INTEGER NOT NULL DEFAULT 0,
  creates TEXT NOT NULL DEFAULT '[]', refusal TEXT, at REAL NOT NULL);
INSERT INTO "push" VALUES(2,3,NULL,NULL,NULL,'r1',0,3,'[]','{"problem": {"type": "urn:fieldmerge:problem:rejected", "title": "rejected", "status": 409, "detail": "rejected", "code": "rejected", "retry": false}, "fault": 0, "record": {"id": 124, "customer": {"firstName": "Ann", "lastName": "Shaw", "street": "1 High St", "county": "Kent", "postCode": "CT1 1AA", "points": 5, "status": "closed", "tags": [], "modified": "2016-02-29T08:15:00Z"}, "groceries": [], "card": null}, "hasRecord": true}',1700000000.0);
INSERT INTO "push" VALUES(3,1,'a27c01ee-f011-4c8d-ac1e-6be7b147efe3',X'7B226B6579223A2261323763303165652D663031312D346338642D616331652D366265376231343765666533222C2272756C6573223A227231222C226564697473223A5B7B227265736F75726365223A2273686F7070657273222C226964223A3132332C226368616E6765736574223A7B22637573746F6D6572223A7B2266697273744E616D65223A7B226F6C64223A224A6F65222C226E6577223A22426F62227D7D7D7D5D7D',NULL,'r1',1,4,'[]',NULL,1700000000.0);
INSERT INTO "push" VALUES(4,0,NULL,NULL,NULL,'r1',0,0,'["tmp:af84d6d0-f39b-4b22-ba41-a674d7561a83"]',NULL,1700000000.0);
CREATE TABLE ticket (
  token TEXT PRIMARY KEY, seq INTEGER NOT NULL, push INTEGER, id TEXT NOT NULL, key TEXT NOT NULL,
  records TEXT NOT NULL, outcome TEXT, at REAL NOT NULL) WITHOUT ROWID;
INSERT INTO "ticket" VALUES('644902fd-0089-47aa-a871-aaa65f573611',1,NULL,'1001','1001','[["aisles", "1001"]]','{"status": "merged", "conflicts": [], "problem": null, "record": {"id": 1001, "aisle": {"name": "Oils"}}}',1700000000.0);
INSERT INTO "ticket" VALUES('6542623f-dbac-47b3-a7fa-1f993191ffc1',3,3,'123','123','[["shoppers", "123"]]',NULL,1700000000.0);
INSERT INTO "ticket" VALUES('6aa8efb3-c8bb-4b7f-8353-cd2bb35409d9',4,4,'123','123','[["shoppers", "123"]]',NULL,1700000000.0);
INSERT INTO "ticket" VALUES('cdfedb36-9ac3-4f63-9b3f-1fb502e235bc',2,2,'124','124','[["shoppers", "124"]]','{"status": "refused", "conflicts": [], "problem": {"type": "urn:fieldmerge:problem:rejected", "title": "rejected", "status": 409, "detail": "rejected", "code": "rejected", "retry": false}, "record": {"id": 124, "customer": {"firstName": "Ann", "lastName": "Shaw", "street": "1 High St", "county": "Kent", "postCode": "CT1 1AA", "points": 5, "status": "closed", "tags": [], "modified": "2016-02-29T08:15:00Z"}, "groceries": [], "card": null}}',1700000000.0);
CREATE TABLE tombstone (
  resource TEXT NOT NULL, key TEXT NOT NULL, pulled INTEGER NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID;
CREATE INDEX push_state ON push (state, seq);
CREATE INDEX edit_record ON edit (resource, key, push);
CREATE INDEX ticket_push ON ticket (push);
CREATE INDEX ticket_key ON ticket (key, seq);
INSERT INTO "sqlite_sequence" VALUES('push',4);
INSERT INTO "sqlite_sequence" VALUES('event',1);
COMMIT;
