BEGIN TRANSACTION;
CREATE TABLE attempts (
    evaluation_id     TEXT NOT NULL REFERENCES evaluations (id),
    number            INTEGER NOT NULL,
    engine            TEXT NOT NULL,
    endpoint          TEXT NOT NULL,
    model_asked       TEXT NOT NULL,
    model_answered    TEXT NOT NULL,
    parameters        TEXT NOT NULL,
    prompt_hash       TEXT NOT NULL, -- texts.hash, empty when there was none
    reply_hash        TEXT NOT NULL,
    finish_reason     TEXT NOT NULL,
    report            TEXT NOT NULL,
    errors            TEXT NOT NULL, -- JSON array of strings
    prompt_tokens     INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd          DOUBLE PRECISION NOT NULL,
    latency_ms        BIGINT NOT NULL,
    transport_retries INTEGER NOT NULL,
    started_at        TIMESTAMP NOT NULL,
    PRIMARY KEY (evaluation_id, number)
);
INSERT INTO "attempts" VALUES('01a229ce-ebe6-734a-9193-db495922e8c0',1,'rules','','','','','137c69d393c6c2edf13ef7c31a054d38574f4f11f95d18e80564b33cf588f2be','0addb2cd3fea07668dd6703281bfd75e51d0336c5d9bbb0c9d4dcfab88640dd2','','{"overall_citation_accuracy_score":0.95,"summary":"SECRET-REPORT"}','[]',11,13,0.0,7,0,'2026-03-01 08:00:00+00:00');
INSERT INTO "attempts" VALUES('01a229ce-ebe6-7761-bcaf-b4a32519799f',1,'rules','','','','','56a58de4d30dfa535b6c856bf1095cd16023d2ba4015937e3dc5c34de73f81ca','d7f47ae72939641f8a189813c7c2a71fc2f0f92c15923d08aa7b9ed00078e92a','','{"overall_citation_accuracy_score":0.125,"summary":"SECRET-REPORT"}','[]',11,13,0.0,7,0,'2026-03-01 08:00:00+00:00');
INSERT INTO "attempts" VALUES('01a229ce-ebe6-784d-b768-23b4a135f056',1,'recorded','','','','','8f9ab9447b29b15aa9740dc2445aa40993e6d77550fd58329ddd368f24efc275','d7f47ae72939641f8a189813c7c2a71fc2f0f92c15923d08aa7b9ed00078e92a','','{"overall_citation_accuracy_score":0.125,"summary":"SECRET-REPORT"}','[]',11,13,0.0,7,0,'2026-03-01 08:00:00+00:00');
INSERT INTO "attempts" VALUES('01a229ce-ebe6-79b2-9444-d4162bb23a61',1,'rules','https://llm.example/v1','m','','{"temperature":0}','c023fd6f388086bab5efe10a850e85656c59ecf2d48a4145cd32c9667f05692e','d7f47ae72939641f8a189813c7c2a71fc2f0f92c15923d08aa7b9ed00078e92a','','','["no \"JSON\" object"]',11,13,0.0,7,0,'2026-03-01 08:00:00+00:00');
INSERT INTO "attempts" VALUES('01a229ce-ebe6-79b2-9444-d4162bb23a61',2,'rules','','','','','c023fd6f388086bab5efe10a850e85656c59ecf2d48a4145cd32c9667f05692e','d7f47ae72939641f8a189813c7c2a71fc2f0f92c15923d08aa7b9ed00078e92a','','{"overall_citation_accuracy_score":0.125,"summary":"SECRET-REPORT"}','[]',11,13,0.0,7,0,'2026-03-01 08:00:00+00:00');
INSERT INTO "attempts" VALUES('01a229ce-ebe6-7a53-9c0d-2e8d07d3c5e1',1,'rules','','','','','cb5ae1cd5efb20c34e50b9ee81632441410ec5807fd9311db041fc25c3098b5b','0addb2cd3fea07668dd6703281bfd75e51d0336c5d9bbb0c9d4dcfab88640dd2','','{"overall_citation_accuracy_score":0.95,"summary":"SECRET-REPORT"}','[]',11,13,0.0,7,0,'2026-03-01 08:00:00+00:00');
CREATE TABLE audit_events (
    seq        BIGINT PRIMARY KEY,
    at         TIMESTAMP NOT NULL,
    project    TEXT NOT NULL, -- project name, empty for users and tokens
    actor_id   TEXT NOT NULL,
    actor      TEXT NOT NULL, -- name at that time
    action     TEXT NOT NULL, -- e.g. trace.imported, review.claimed, decision.made
    subject    TEXT NOT NULL, -- e.g. evaluation:ID
    allowed    BOOLEAN NOT NULL, -- false: a denied attempt
    data       TEXT NOT NULL, -- canonical JSON
    prev_hash  TEXT NOT NULL,
    hash       TEXT NOT NULL
);
INSERT INTO "audit_events" VALUES(1,'2026-03-01 09:00:00.001+00:00','default','','test','project.created','project:01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a',1,'{"version":1,"random_audit":0.05,"boundary_audit":0.1,"seed":"countersign","blind":"always","blind_share":1,"due_hours_high":24,"due_hours_standard":72,"lease_minutes":30}','','6e23fdecf22776bd1e7ad1363056b38735870c33d587b8e8d8b29ab7cfc26c14');
INSERT INTO "audit_events" VALUES(2,'2026-03-01 09:00:00.002+00:00','default','','test','judge.saved','judge:citations',1,'{"new":true,"prompt_version":"19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1"}','6e23fdecf22776bd1e7ad1363056b38735870c33d587b8e8d8b29ab7cfc26c14','12985720233255fed11ff11b7d5924d25bbe32de206805c8962a6815daa51477');
INSERT INTO "audit_events" VALUES(3,'2026-03-01 09:00:00.003+00:00','','','test','user.created','user:01a229ce-ebde-7286-a7df-d1888b684cd5',1,'{"email":"ana@example.org","role":"reviewer"}','12985720233255fed11ff11b7d5924d25bbe32de206805c8962a6815daa51477','8e91b93603cef3cc2f623986bc194329945f4b086e95734f0121c92f41f8d38a');
INSERT INTO "audit_events" VALUES(4,'2026-03-01 09:00:00.004+00:00','','','test','user.created','user:01a229ce-ebdf-7639-a0b7-44b8f3b79c64',1,'{"email":"lea@example.org","role":"lead"}','8e91b93603cef3cc2f623986bc194329945f4b086e95734f0121c92f41f8d38a','e612e6b4400dc4b94de66008b0595f045564b959713e895490551ae93eff216d');
INSERT INTO "audit_events" VALUES(5,'2026-03-01 09:00:00.005+00:00','default','','test','trace.imported','trace:01a229ce-ebe5-7e9a-9fe4-0718c12b5fa8',1,'{"evaluations":["01a229ce-ebe6-734a-9193-db495922e8c0"],"external_id":"trace-000000","hash":"31d1b057a32ec1ab30b166bd7ce5247b7daab6085ab55b796d3f104902627db0","revision":1,"run":"nightly"}','e612e6b4400dc4b94de66008b0595f045564b959713e895490551ae93eff216d','7b2f766018081dc72673b30e51efa33ab07cc03d8562995f064cd4f81976770e');
INSERT INTO "audit_events" VALUES(6,'2026-03-01 09:00:00.005+00:00','default','','test','labels.imported','trace:01a229ce-ebe5-7e9a-9fe4-0718c12b5fa8',1,'{"external_id":"trace-000000","labels":2}','7b2f766018081dc72673b30e51efa33ab07cc03d8562995f064cd4f81976770e','47b0048b94e5cd1e511a0bb69ea4f1b5211059a5e209d0926cecd22c6bf25f9f');
INSERT INTO "audit_events" VALUES(7,'2026-03-01 09:00:00.005+00:00','default','','test','trace.imported','trace:01a229ce-ebe6-76f9-813b-1d758d985f2f',1,'{"evaluations":["01a229ce-ebe6-7761-bcaf-b4a32519799f"],"external_id":"trace-000001","hash":"f6836c3ab9e2e7ecefd5b9b39f9b4895f77fdc795a4679380f6a8225407eb823","revision":1,"run":"nightly"}','47b0048b94e5cd1e511a0bb69ea4f1b5211059a5e209d0926cecd22c6bf25f9f','47eb2067355abc4b5c626aa76c8d79caba2a140dfd22da7b71ab18b24b2817df');
INSERT INTO "audit_events" VALUES(8,'2026-03-01 09:00:00.005+00:00','default','','test','labels.imported','trace:01a229ce-ebe6-76f9-813b-1d758d985f2f',1,'{"external_id":"trace-000001","labels":1}','47eb2067355abc4b5c626aa76c8d79caba2a140dfd22da7b71ab18b24b2817df','73341411ea387060b436ce658edff4403daec73dfa849facb300227a7cd51371');
INSERT INTO "audit_events" VALUES(9,'2026-03-01 09:00:00.005+00:00','default','','test','trace.imported','trace:01a229ce-ebe6-77f7-92b6-e433dd61f5e8',1,'{"evaluations":["01a229ce-ebe6-784d-b768-23b4a135f056"],"external_id":"trace-000002","hash":"f2b317cf38f0d94513a973c485cadf5130b8188a3a18d351e67757aab29377ed","revision":1,"run":"nightly"}','73341411ea387060b436ce658edff4403daec73dfa849facb300227a7cd51371','4ec3f602c5539e08f5c721679cabfb194d29f2a2c1fa6748e645fa6b1c261d7b');
INSERT INTO "audit_events" VALUES(10,'2026-03-01 09:00:00.005+00:00','default','','test','trace.imported','trace:01a229ce-ebe6-78b3-9e42-efa60a6e6677',1,'{"evaluations":["01a229ce-ebe6-790d-913d-a15cc9a7c47d"],"external_id":"trace-000003","hash":"e525dc193942badb57cd2a810ffbc0ef7df23e4ce787fea1485f4bcb19c2b5d0","revision":1,"run":"nightly"}','4ec3f602c5539e08f5c721679cabfb194d29f2a2c1fa6748e645fa6b1c261d7b','68fd0f15c9f66c86b3fe9bf40069d654fa3e7b6543c5a29fc132c929dafc1fd0');
INSERT INTO "audit_events" VALUES(11,'2026-03-01 09:00:00.005+00:00','default','','test','trace.imported','trace:01a229ce-ebe6-7955-b39b-b9324470b630',1,'{"evaluations":["01a229ce-ebe6-79b2-9444-d4162bb23a61"],"external_id":"trace-000004","hash":"ed9aafe63dd9b9cb853d822fbfcf0c59fbfefa555267fcaec9f1066b7f392ee8","revision":1,"run":"nightly"}','68fd0f15c9f66c86b3fe9bf40069d654fa3e7b6543c5a29fc132c929dafc1fd0','0d05f7d0c2d909c51639311efc71bae90951a09312a2fb4da879c600bf46143f');
INSERT INTO "audit_events" VALUES(12,'2026-03-01 09:00:00.005+00:00','default','','test','trace.imported','trace:01a229ce-ebe6-79fb-abc4-5083d499360d',1,'{"evaluations":["01a229ce-ebe6-7a53-9c0d-2e8d07d3c5e1"],"external_id":"trace-000005","hash":"de541b1cf3ef7d708548019ade56e61d0495fff1e8fa1cd8415b0b6d03f8d583","revision":1,"run":"nightly"}','0d05f7d0c2d909c51639311efc71bae90951a09312a2fb4da879c600bf46143f','3883d0326dc1cb89001b38fa7634dcd3075460d575ad4a4ad56dbae4f1489666');
INSERT INTO "audit_events" VALUES(13,'2026-03-01 09:00:00.005+00:00','default','','test','trace.imported','trace:01a229ce-ebe6-7a96-811b-eea7af345c21',1,'{"evaluations":["01a229ce-ebe6-7b0a-9f06-39b76f21224a"],"external_id":"trace-000006","hash":"553b85d5cb394ea27737192795c278cacd056e2c6e4519bd4c41a3d7f168b334","revision":1,"run":"nightly"}','3883d0326dc1cb89001b38fa7634dcd3075460d575ad4a4ad56dbae4f1489666','4675016c3dfbba03bb8b9c35ae80a7cc205882a2e64214d6e41f5bacc89c632b');
INSERT INTO "audit_events" VALUES(14,'2026-03-01 09:00:00.005+00:00','default','','test','trace.imported','trace:01a229ce-ebe6-7bce-b2c7-7cc6e196b0a0',1,'{"evaluations":["01a229ce-ebe6-7c2e-a2a6-f1f7c8f90470"],"external_id":"trace-000007","hash":"6865670a95d799b8d14f63909f438b9fac8d1162253b7ee7b93a9a0560788801","revision":1,"run":"nightly"}','4675016c3dfbba03bb8b9c35ae80a7cc205882a2e64214d6e41f5bacc89c632b','93ea2a73f9768d7c670096fb336ab2708954f0f78f3a6a2fa8c4a50c641513e2');
INSERT INTO "audit_events" VALUES(15,'2026-03-01 09:00:00.008+00:00','default','','judging worker','evaluation.judged','evaluation:01a229ce-ebe6-734a-9193-db495922e8c0',1,'{"engine":"rules","judge":"citations","model":"rules"}','93ea2a73f9768d7c670096fb336ab2708954f0f78f3a6a2fa8c4a50c641513e2','762cfbd1d5108953b5bc57a661124ca21df5cba249df2cb21a3ac04ea74adb09');
INSERT INTO "audit_events" VALUES(16,'2026-03-01 09:00:00.009+00:00','default','','judging worker','evaluation.judged','evaluation:01a229ce-ebe6-7761-bcaf-b4a32519799f',1,'{"engine":"rules","judge":"citations","model":"rules"}','762cfbd1d5108953b5bc57a661124ca21df5cba249df2cb21a3ac04ea74adb09','e048a64a264ceae10755768ec18b352ebfe165c1943964dd4af902feaeb17cdb');
INSERT INTO "audit_events" VALUES(17,'2026-03-01 09:00:00.01+00:00','default','','judging worker','evaluation.judged','evaluation:01a229ce-ebe6-784d-b768-23b4a135f056',1,'{"engine":"recorded","judge":"citations","model":"gpt-x"}','e048a64a264ceae10755768ec18b352ebfe165c1943964dd4af902feaeb17cdb','356a5a911c0b7dfafddd4ff7c8ea192d4d4efa704c5923e1396b59e33edb8abd');
INSERT INTO "audit_events" VALUES(18,'2026-03-01 09:00:00.011+00:00','default','','judging worker','evaluation.judged','evaluation:01a229ce-ebe6-79b2-9444-d4162bb23a61',1,'{"engine":"rules","judge":"citations","model":"rules"}','356a5a911c0b7dfafddd4ff7c8ea192d4d4efa704c5923e1396b59e33edb8abd','2d567ed8d689386de9c19584c6a627b3e114d2ff934cd50270f4ca997a0cdcac');
INSERT INTO "audit_events" VALUES(19,'2026-03-01 09:00:00.012+00:00','default','01a229ce-ebdf-7639-a0b7-44b8f3b79c64','Lea','evaluation.retried','evaluation:01a229ce-ebe6-79b2-9444-d4162bb23a61',1,'null','2d567ed8d689386de9c19584c6a627b3e114d2ff934cd50270f4ca997a0cdcac','5b600db8b7faf7bfc3af3104a3d0f5ca77a5d8c2c3c411952eb3a184af3edd45');
INSERT INTO "audit_events" VALUES(20,'2026-03-01 09:00:00.015+00:00','default','','judging worker','evaluation.judged','evaluation:01a229ce-ebe6-79b2-9444-d4162bb23a61',1,'{"engine":"rules","judge":"citations","model":"rules"}','5b600db8b7faf7bfc3af3104a3d0f5ca77a5d8c2c3c411952eb3a184af3edd45','a3521037b6dcfa147f6cdd5f6212f36d5dc140b3a752cd57c76150ff4d37a161');
INSERT INTO "audit_events" VALUES(21,'2026-03-01 09:00:00.016+00:00','default','','judging worker','evaluation.judged','evaluation:01a229ce-ebe6-7a53-9c0d-2e8d07d3c5e1',1,'{"engine":"rules","judge":"citations","model":"rules"}','a3521037b6dcfa147f6cdd5f6212f36d5dc140b3a752cd57c76150ff4d37a161','685a903fd72d7c1cd4ce7a55440ce53b1879143605832037e5fc4acbcd0cfcea');
INSERT INTO "audit_events" VALUES(22,'2026-03-01 09:00:00.017+00:00','default','01a229ce-ebde-7286-a7df-d1888b684cd5','Ana','review.claimed','review:01a229ce-ec07-7795-94e6-33f2ba15b9c6',1,'{"evaluation_id":"01a229ce-ebe6-79b2-9444-d4162bb23a61","until":"2026-03-01T09:30:00.017Z"}','685a903fd72d7c1cd4ce7a55440ce53b1879143605832037e5fc4acbcd0cfcea','3748d1d5297db41393ba9b10aca2de5db712f8ad89f2c8046c266ae51553aa95');
INSERT INTO "audit_events" VALUES(23,'2026-03-01 09:00:00.019+00:00','default','01a229ce-ebde-7286-a7df-d1888b684cd5','Ana','review.first_answer','review:01a229ce-ec07-7795-94e6-33f2ba15b9c6',1,'{"answer_sha256":"59787876659b1868b0b0cf7a9e538548c2ce1189cf5c0953301c39d69cab75f0","evaluation_id":"01a229ce-ebe6-79b2-9444-d4162bb23a61"}','3748d1d5297db41393ba9b10aca2de5db712f8ad89f2c8046c266ae51553aa95','3175834f6047f56cf2fdd0614cc903222368ce70cd58d2a7dcf0707ffe82bcaf');
INSERT INTO "audit_events" VALUES(24,'2026-03-01 09:00:00.021+00:00','default','01a229ce-ebde-7286-a7df-d1888b684cd5','Ana','decision.made','evaluation:01a229ce-ebe6-79b2-9444-d4162bb23a61',1,'{"action":"confirm","adjudication":false,"choice":"adopt","decision_id":"01a229ce-ec2b-7975-be6a-41a3e9100f43","decision_sha256":"dbdf9f0522084be10af61d4e8702673a8b6da89046d747f9b0b3593b18426162","label":"inaccurate","reason_code":"","review_id":"01a229ce-ec07-7795-94e6-33f2ba15b9c6","verdict":"fail"}','3175834f6047f56cf2fdd0614cc903222368ce70cd58d2a7dcf0707ffe82bcaf','84c97bd73cd9fdbc8b410dd0a2ce456a64bbaeeab62e95f195b1505d94054990');
INSERT INTO "audit_events" VALUES(25,'2026-03-01 09:00:00.022+00:00','default','','test','traces.exported','project:01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a',1,'{"run":""}','84c97bd73cd9fdbc8b410dd0a2ce456a64bbaeeab62e95f195b1505d94054990','5b30b810df7e84049ee9e12d3ee3de12afd6dd14f28f281d808b5da29787f030');
INSERT INTO "audit_events" VALUES(26,'2026-03-01 09:00:00.023+00:00','default','','test','decisions.exported','project:01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a',1,'{"run":""}','5b30b810df7e84049ee9e12d3ee3de12afd6dd14f28f281d808b5da29787f030','a3e414aafd904e452524e431e49c207ff509877d17d1d9b9e8e476919d1f3c9b');
INSERT INTO "audit_events" VALUES(27,'2026-03-01 09:00:00.024+00:00','default','','test','labels.exported','project:01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a',1,'{"run":""}','a3e414aafd904e452524e431e49c207ff509877d17d1d9b9e8e476919d1f3c9b','8c7b5f9262f8eb5d3d4fe7c3636068dc6c9bfaf5b0184954b40c3871f51d77ba');
INSERT INTO "audit_events" VALUES(28,'2026-03-01 09:00:00.025+00:00','default','','test','evaluations.exported','project:01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a',1,'{"run":""}','8c7b5f9262f8eb5d3d4fe7c3636068dc6c9bfaf5b0184954b40c3871f51d77ba','1ffc1a04a2535d6165c356f5f6d3e33eb4bf189634f98635899cd05f9a533faf');
CREATE TABLE audit_head (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  BIGINT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO "audit_head" VALUES(1,28,'1ffc1a04a2535d6165c356f5f6d3e33eb4bf189634f98635899cd05f9a533faf');
CREATE TABLE consensus (
    project_id            TEXT NOT NULL REFERENCES projects (id),
    judge                 TEXT NOT NULL,
    trace_id              TEXT NOT NULL REFERENCES traces (id),
    basis                 TEXT NOT NULL CHECK (basis IN ('adjudicated', 'decision', 'imported')),
    verdict               TEXT NOT NULL,
    label                 TEXT NOT NULL,
    abstained             BOOLEAN NOT NULL,
    tied                  BOOLEAN NOT NULL,
    visible               BOOLEAN NOT NULL,
    stratum               TEXT NOT NULL,
    inclusion_probability DOUBLE PRECISION, -- null = not known
    cluster               TEXT NOT NULL,
    labelled_at           TIMESTAMP NOT NULL, -- of the newest label it rests on
    labels                INTEGER NOT NULL, -- how many there are
    PRIMARY KEY (project_id, judge, trace_id)
);
INSERT INTO "consensus" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','citations','01a229ce-ebe5-7e9a-9fe4-0718c12b5fa8','imported','','',0,1,0,'imported',0.25,'','2026-03-01 09:00:00.005+00:00',2);
INSERT INTO "consensus" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','citations','01a229ce-ebe6-76f9-813b-1d758d985f2f','adjudicated','fail','',0,0,0,'imported',NULL,'','2026-03-01 09:00:00.005+00:00',1);
INSERT INTO "consensus" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','citations','01a229ce-ebe6-7955-b39b-b9324470b630','decision','pass','',0,0,0,'flagged',1.0,'','2026-03-01 09:00:00.021+00:00',1);
CREATE TABLE decisions (
    id              TEXT PRIMARY KEY,
    review_id       TEXT NOT NULL REFERENCES reviews (id),
    evaluation_id   TEXT NOT NULL REFERENCES evaluations (id),
    user_id         TEXT NOT NULL REFERENCES users (id),
    action          TEXT NOT NULL CHECK (action IN ('confirm', 'override', 'cannot_judge', 'escalate')),
    choice          TEXT NOT NULL DEFAULT '' CHECK (choice IN ('', 'keep', 'adopt')), -- blind items: what was done after the reveal
    verdict         TEXT NOT NULL CHECK (verdict IN ('', 'pass', 'borderline', 'fail')),
    label           TEXT NOT NULL,
    findings        TEXT NOT NULL, -- JSON array
    reason_code     TEXT NOT NULL,
    comment         TEXT NOT NULL,
    confidence      TEXT NOT NULL CHECK (confidence IN ('', 'low', 'medium', 'high')),
    blind           BOOLEAN NOT NULL,
    verdict_visible BOOLEAN NOT NULL, -- before the first answer
    first_verdict   TEXT NOT NULL,
    first_label     TEXT NOT NULL,
    adjudication    BOOLEAN NOT NULL,
    seconds         DOUBLE PRECISION NOT NULL, -- from claim to decision, by the server's clock
    supersedes      TEXT REFERENCES decisions (id),
    decided_at      TIMESTAMP NOT NULL
);
INSERT INTO "decisions" VALUES('01a229ce-ec2b-7975-be6a-41a3e9100f43','01a229ce-ec07-7795-94e6-33f2ba15b9c6','01a229ce-ebe6-79b2-9444-d4162bb23a61','01a229ce-ebde-7286-a7df-d1888b684cd5','confirm','adopt','fail','inaccurate','[{"step":2,"class":"unsupported","severity":"critical","explanation":"SECRET-FINDING"}]','','yes','',1,0,'pass','',0,0.004,NULL,'2026-03-01 09:00:00.021+00:00');
CREATE TABLE evaluation_reasons (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    position      INTEGER NOT NULL,
    code          TEXT NOT NULL,
    detail        TEXT NOT NULL,
    PRIMARY KEY (evaluation_id, position)
);
INSERT INTO "evaluation_reasons" VALUES('01a229ce-ebe6-7761-bcaf-b4a32519799f',0,'critical_error','SECRET-DETAIL');
INSERT INTO "evaluation_reasons" VALUES('01a229ce-ebe6-7761-bcaf-b4a32519799f',1,'invalid_output','SECRET-DETAIL');
INSERT INTO "evaluation_reasons" VALUES('01a229ce-ebe6-784d-b768-23b4a135f056',0,'critical_error','SECRET-DETAIL');
INSERT INTO "evaluation_reasons" VALUES('01a229ce-ebe6-784d-b768-23b4a135f056',1,'invalid_output','SECRET-DETAIL');
INSERT INTO "evaluation_reasons" VALUES('01a229ce-ebe6-79b2-9444-d4162bb23a61',0,'judge_failed','SECRET-DETAIL');
CREATE TABLE evaluation_reports (
    evaluation_id TEXT PRIMARY KEY REFERENCES evaluations (id),
    report        TEXT NOT NULL, -- JSON or empty
    findings      TEXT NOT NULL, -- JSON array
    checks        TEXT NOT NULL  -- JSON array
);
INSERT INTO "evaluation_reports" VALUES('01a229ce-ebe6-734a-9193-db495922e8c0','{"overall_citation_accuracy_score":0.95,"summary":"SECRET-REPORT"}','[]','[{"name":"citations.covered","kind":"hard","ok":true,"detail":"SECRET-CHECK"}]');
INSERT INTO "evaluation_reports" VALUES('01a229ce-ebe6-7761-bcaf-b4a32519799f','{"overall_citation_accuracy_score":0.125,"summary":"SECRET-REPORT"}','[{"step":2,"class":"unsupported","severity":"critical","explanation":"SECRET-FINDING"}]','[{"name":"citations.covered","kind":"hard","ok":true,"detail":"SECRET-CHECK"}]');
INSERT INTO "evaluation_reports" VALUES('01a229ce-ebe6-784d-b768-23b4a135f056','{"overall_citation_accuracy_score":0.125,"summary":"SECRET-REPORT"}','[{"step":2,"class":"unsupported","severity":"critical","explanation":"SECRET-FINDING"}]','[{"name":"citations.covered","kind":"hard","ok":true,"detail":"SECRET-CHECK"}]');
INSERT INTO "evaluation_reports" VALUES('01a229ce-ebe6-79b2-9444-d4162bb23a61','{"overall_citation_accuracy_score":0.125,"summary":"SECRET-REPORT"}','[{"step":2,"class":"unsupported","severity":"critical","explanation":"SECRET-FINDING"}]','[{"name":"citations.covered","kind":"hard","ok":true,"detail":"SECRET-CHECK"}]');
INSERT INTO "evaluation_reports" VALUES('01a229ce-ebe6-7a53-9c0d-2e8d07d3c5e1','{"overall_citation_accuracy_score":0.95,"summary":"SECRET-REPORT"}','[]','[{"name":"citations.covered","kind":"hard","ok":true,"detail":"SECRET-CHECK"}]');
CREATE TABLE evaluations (
    id                TEXT PRIMARY KEY,
    project_id        TEXT NOT NULL REFERENCES projects (id),
    trace_id          TEXT NOT NULL REFERENCES traces (id),
    judge             TEXT NOT NULL,
    prompt_version    TEXT NOT NULL,
    engine            TEXT NOT NULL CHECK (engine = 'openai' OR engine = 'rules' OR engine = 'recorded'),
    model             TEXT NOT NULL,
    judgment_hash     TEXT NOT NULL DEFAULT '', -- recorded reports: which one; same model may have several
    judgment_body     TEXT NOT NULL DEFAULT '', -- recorded reports: texts.hash of the judgment as JSON
    status            TEXT NOT NULL CHECK (status = 'queued' OR status = 'judging' OR status = 'refused' OR status = 'accepted' OR status = 'in_review' OR status = 'final'),
    score             DOUBLE PRECISION,
    verdict           TEXT NOT NULL DEFAULT '' CHECK (verdict = '' OR verdict = 'pass' OR verdict = 'borderline' OR verdict = 'fail'),
    label             TEXT NOT NULL DEFAULT '',
    critical          BOOLEAN NOT NULL DEFAULT FALSE,
    lead_reason       TEXT NOT NULL DEFAULT '', -- the most urgent reason
    refused_field     TEXT NOT NULL DEFAULT '',
    error             TEXT NOT NULL DEFAULT '',
    attempts          INTEGER NOT NULL DEFAULT 0,
    repairs           INTEGER NOT NULL DEFAULT 0,
    transport_retries INTEGER NOT NULL DEFAULT 0,
    prompt_tokens     INTEGER NOT NULL DEFAULT 0,
    completion_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd          DOUBLE PRECISION NOT NULL DEFAULT 0,
    latency_ms        BIGINT NOT NULL DEFAULT 0,
    result_verdict    TEXT NOT NULL DEFAULT '',
    result_label      TEXT NOT NULL DEFAULT '',
    result_source     TEXT NOT NULL DEFAULT '' CHECK (result_source = '' OR result_source = 'judge' OR result_source = 'human' OR result_source = 'adjudication'),
    -- work
    fence             BIGINT NOT NULL DEFAULT 0, -- raised at every claim; a late worker's fence is stale
    lease_holder      TEXT NOT NULL DEFAULT '',
    lease_expires_at  TIMESTAMP,
    -- times
    created_at        TIMESTAMP NOT NULL,
    started_at        TIMESTAMP,
    finished_at       TIMESTAMP,
    UNIQUE (trace_id, judge, prompt_version, engine, model, judgment_hash)
);
INSERT INTO "evaluations" VALUES('01a229ce-ebe6-734a-9193-db495922e8c0','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe5-7e9a-9fe4-0718c12b5fa8','citations','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1','rules','rules','','','accepted',0.95,'pass','accurate',0,'','','',1,0,0,11,13,0.0,7,'pass','accurate','judge',1,'',NULL,'2026-03-01 09:00:00.005+00:00','2026-03-01 08:00:00+00:00','2026-03-01 09:00:00.008+00:00');
INSERT INTO "evaluations" VALUES('01a229ce-ebe6-7761-bcaf-b4a32519799f','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-76f9-813b-1d758d985f2f','citations','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1','rules','rules','','','final',0.125,'fail','inaccurate',1,'critical_error','','',1,0,0,11,13,0.0,7,'fail','','adjudication',1,'',NULL,'2026-03-01 09:00:00.005+00:00','2026-03-01 08:00:00+00:00','2026-03-01 09:00:00.009+00:00');
INSERT INTO "evaluations" VALUES('01a229ce-ebe6-784d-b768-23b4a135f056','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-77f7-92b6-e433dd61f5e8','citations','v7','recorded','gpt-x','90d5fa42f23ff81f445909890273b2acefdd1b07ba687008c1beb688269632a2','90d5fa42f23ff81f445909890273b2acefdd1b07ba687008c1beb688269632a2','in_review',0.125,'fail','inaccurate',1,'critical_error','','',1,0,0,11,13,0.0,7,'','','',1,'',NULL,'2026-03-01 09:00:00.005+00:00','2026-03-01 08:00:00+00:00','2026-03-01 09:00:00.01+00:00');
INSERT INTO "evaluations" VALUES('01a229ce-ebe6-790d-913d-a15cc9a7c47d','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-78b3-9e42-efa60a6e6677','citations','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1','rules','rules','','','refused',NULL,'','',0,'','sources','has none',0,0,0,0,0,0.0,0,'','','',0,'',NULL,'2026-03-01 09:00:00.005+00:00',NULL,NULL);
INSERT INTO "evaluations" VALUES('01a229ce-ebe6-79b2-9444-d4162bb23a61','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-7955-b39b-b9324470b630','citations','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1','rules','rules','','','final',0.125,'fail','inaccurate',1,'judge_failed','','',2,0,0,22,26,0.0,14,'fail','inaccurate','human',2,'',NULL,'2026-03-01 09:00:00.005+00:00','2026-03-01 08:00:00+00:00','2026-03-01 09:00:00.015+00:00');
INSERT INTO "evaluations" VALUES('01a229ce-ebe6-7a53-9c0d-2e8d07d3c5e1','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-79fb-abc4-5083d499360d','citations','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1','rules','rules','','','accepted',0.95,'pass','accurate',0,'','','',1,0,0,11,13,0.0,7,'pass','accurate','judge',1,'',NULL,'2026-03-01 09:00:00.005+00:00','2026-03-01 08:00:00+00:00','2026-03-01 09:00:00.016+00:00');
INSERT INTO "evaluations" VALUES('01a229ce-ebe6-7b0a-9f06-39b76f21224a','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-7a96-811b-eea7af345c21','citations','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1','rules','rules','','','queued',NULL,'','',0,'','','',0,0,0,0,0,0.0,0,'','','',0,'',NULL,'2026-03-01 09:00:00.005+00:00',NULL,NULL);
INSERT INTO "evaluations" VALUES('01a229ce-ebe6-7c2e-a2a6-f1f7c8f90470','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-7bce-b2c7-7cc6e196b0a0','citations','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1','rules','rules','','','queued',NULL,'','',0,'','','',0,0,0,0,0,0.0,0,'','','',0,'',NULL,'2026-03-01 09:00:00.005+00:00',NULL,NULL);
CREATE TABLE exposures (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    user_id       TEXT NOT NULL REFERENCES users (id),
    exposed_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (evaluation_id, user_id)
);
CREATE TABLE first_answers (
    review_id   TEXT NOT NULL REFERENCES reviews (id),
    user_id     TEXT NOT NULL REFERENCES users (id),
    verdict     TEXT NOT NULL CHECK (verdict IN ('pass', 'borderline', 'fail')),
    label       TEXT NOT NULL,
    findings    TEXT NOT NULL, -- JSON array
    nonce       TEXT NOT NULL, -- goes into the digest that the audit event holds
    answered_at TIMESTAMP NOT NULL,
    PRIMARY KEY (review_id, user_id)
);
INSERT INTO "first_answers" VALUES('01a229ce-ec07-7795-94e6-33f2ba15b9c6','01a229ce-ebde-7286-a7df-d1888b684cd5','pass','','[]','UQ66KPKH7XMNVN5QP7UCD4ASW3','2026-03-01 09:00:00.019+00:00');
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
INSERT INTO "goose_db_version" VALUES(1,0,1,'2026-11-30 00:15:56');
INSERT INTO "goose_db_version" VALUES(2,1,1,'2026-11-30 00:15:56');
INSERT INTO "goose_db_version" VALUES(3,2,1,'2026-11-30 00:15:56');
CREATE TABLE idempotent_answers (
    user_id    TEXT NOT NULL REFERENCES users (id),
    key        TEXT NOT NULL,
    request    TEXT NOT NULL, -- SHA-256 of method, path and body
    status     INTEGER NOT NULL,
    body       TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (user_id, key)
);
CREATE TABLE judge_labels (
    project_id TEXT NOT NULL REFERENCES projects (id),
    judge      TEXT NOT NULL,
    label      TEXT NOT NULL,
    position   INTEGER NOT NULL,
    verdict    TEXT NOT NULL,
    abstain    BOOLEAN NOT NULL,
    PRIMARY KEY (project_id, judge, label)
);
INSERT INTO "judge_labels" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','citations','accurate',0,'pass',0);
INSERT INTO "judge_labels" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','citations','partial',1,'borderline',0);
INSERT INTO "judge_labels" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','citations','inaccurate',2,'fail',0);
INSERT INTO "judge_labels" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','citations','undetermined',3,'borderline',1);
CREATE TABLE judges (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    name           TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    builtin        BOOLEAN NOT NULL,
    definition     TEXT NOT NULL, -- YAML as written
    ordinal        BOOLEAN NOT NULL DEFAULT FALSE, -- the order of its labels means something to statistics
    current        BOOLEAN NOT NULL,
    created_at     TIMESTAMP NOT NULL,
    UNIQUE (project_id, name, prompt_version)
);
INSERT INTO "judges" VALUES('01a229ce-ebdc-77c9-ab96-5111ad59d783','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','citations','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1',1,'name: citations
',1,1,'2026-03-01 09:00:00.002+00:00');
CREATE TABLE kept_replies (
    evaluation TEXT NOT NULL, -- judge.EvaluationID
    call       TEXT NOT NULL, -- hash of conversation and parameters
    reply      TEXT NOT NULL, -- judge.KeptReply as JSON
    kept_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (evaluation, call)
);
CREATE TABLE labels (
    id                    TEXT PRIMARY KEY,
    project_id            TEXT NOT NULL REFERENCES projects (id),
    trace_id              TEXT NOT NULL REFERENCES traces (id),
    judge                 TEXT NOT NULL,
    source                TEXT NOT NULL CHECK (source IN ('imported', 'decision')),
    content_hash          TEXT NOT NULL, -- imported: makes a second import a no-op; decision: the decision's id
    reviewer              TEXT NOT NULL, -- imported: the file's word; decision: the user's id
    decision_id           TEXT REFERENCES decisions (id),
    evaluation_id         TEXT REFERENCES evaluations (id),
    prompt_version        TEXT NOT NULL, -- of the evaluation decided on; empty for imported ones
    -- first and final answer: they differ only when a blind answer was revised
    first_verdict         TEXT NOT NULL,
    first_label           TEXT NOT NULL,
    verdict               TEXT NOT NULL,
    label                 TEXT NOT NULL,
    abstained             BOOLEAN NOT NULL,
    findings              TEXT NOT NULL, -- JSON array
    comment               TEXT NOT NULL,
    adjudicated           BOOLEAN NOT NULL,
    verdict_visible       BOOLEAN NOT NULL,
    stratum               TEXT NOT NULL,
    inclusion_probability DOUBLE PRECISION, -- null = the file did not say
    cluster               TEXT NOT NULL,
    labelled_at           TIMESTAMP NOT NULL,
    UNIQUE (trace_id, judge, source, reviewer, content_hash)
);
INSERT INTO "labels" VALUES('01a229ce-ebe6-7536-8f46-ff0104521432','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe5-7e9a-9fe4-0718c12b5fa8','citations','imported','ab4a7d05df9a25066d9b475581e01fd0ad5f0b1a52af104b42dcdedda34ddcf5','rita',NULL,NULL,'','pass','accurate','pass','accurate',0,'[]','',0,0,'imported',0.25,'','2026-03-01 09:00:00.005+00:00');
INSERT INTO "labels" VALUES('01a229ce-ebe6-769b-bf58-a8d1f8521d0e','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe5-7e9a-9fe4-0718c12b5fa8','citations','imported','c653db392b52c7b2a576ac0e1d6fa49bea3159b68443e006f670f2cd45e0bc2d','tom',NULL,NULL,'','borderline','partial','borderline','partial',0,'[{"step":1,"class":"x","explanation":"said \"so\"\nand é"}]','',0,0,'imported',NULL,'','2026-03-01 09:00:00.005+00:00');
INSERT INTO "labels" VALUES('01a229ce-ebe6-77ab-8bed-c41abe9547c8','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-76f9-813b-1d758d985f2f','citations','imported','29362d0a7d0fdce97a82b35fcf2779369b999608c15b1a3ba5e9c327d6f57e27','',NULL,NULL,'','fail','','fail','',0,'[]','',1,0,'imported',NULL,'','2026-03-01 09:00:00.005+00:00');
INSERT INTO "labels" VALUES('01a229ce-ec2c-7674-8942-079a9d748875','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-7955-b39b-b9324470b630','citations','decision','01a229ce-ec2b-7975-be6a-41a3e9100f43','01a229ce-ebde-7286-a7df-d1888b684cd5','01a229ce-ec2b-7975-be6a-41a3e9100f43','01a229ce-ebe6-79b2-9444-d4162bb23a61','19c0dc3e1694917ea8e5a60d763b58f929c5184eda6840bc3bd3af36499a5ce1','pass','','fail','inaccurate',0,'[{"step":2,"class":"unsupported","severity":"critical","explanation":"SECRET-FINDING"}]','yes',0,0,'flagged',1.0,'','2026-03-01 09:00:00.021+00:00');
CREATE TABLE projects (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    policy     TEXT NOT NULL, -- judge.Policy as JSON
    created_at TIMESTAMP NOT NULL
);
INSERT INTO "projects" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','default','{"version":1,"random_audit":0.05,"boundary_audit":0.1,"seed":"countersign","blind":"always","blind_share":1,"due_hours_high":24,"due_hours_standard":72,"lease_minutes":30}','2026-03-01 09:00:00.001+00:00');
CREATE TABLE review_skips (
    review_id  TEXT NOT NULL REFERENCES reviews (id),
    user_id    TEXT NOT NULL REFERENCES users (id),
    comment    TEXT NOT NULL,
    skipped_at TIMESTAMP NOT NULL,
    PRIMARY KEY (review_id, user_id)
);
CREATE TABLE reviews (
    id                    TEXT PRIMARY KEY,
    project_id            TEXT NOT NULL REFERENCES projects (id),
    evaluation_id         TEXT NOT NULL UNIQUE REFERENCES evaluations (id),
    trace_id              TEXT NOT NULL REFERENCES traces (id),
    external_id           TEXT NOT NULL,
    judge                 TEXT NOT NULL,
    domain                TEXT NOT NULL,
    stakes                TEXT NOT NULL,
    title                 TEXT NOT NULL,
    state                 TEXT NOT NULL CHECK (state = 'open' OR state = 'claimed' OR state = 'decided' OR state = 'adjudication' OR state = 'closed'),
    urgency               INTEGER NOT NULL, -- 2 * reason rank + (0 high, 1 standard stakes): the queue's first key
    lead_reason           TEXT NOT NULL,
    blind                 BOOLEAN NOT NULL,
    stratum               TEXT NOT NULL,
    inclusion_probability DOUBLE PRECISION NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
    due_at                TIMESTAMP NOT NULL,
    opened_at             TIMESTAMP NOT NULL,
    -- claim: a lease that runs out
    holder_id             TEXT REFERENCES users (id),
    claimed_at            TIMESTAMP,
    lease_expires_at      TIMESTAMP,
    adjudicating          BOOLEAN NOT NULL DEFAULT FALSE, -- a lead has to settle it, claimed or not
    decided_at            TIMESTAMP
);
INSERT INTO "reviews" VALUES('01a229ce-ebff-7802-83e8-eaa616767b9b','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-784d-b768-23b4a135f056','01a229ce-ebe6-77f7-92b6-e433dd61f5e8','trace-000002','citations','general','standard','Question 2: does the limitation period of three years apply?','open',1,'critical_error',1,'flagged',1.0,'2026-03-04 09:00:00.01+00:00','2026-03-01 09:00:00.01+00:00',NULL,NULL,NULL,0,NULL);
INSERT INTO "reviews" VALUES('01a229ce-ec07-7795-94e6-33f2ba15b9c6','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','01a229ce-ebe6-79b2-9444-d4162bb23a61','01a229ce-ebe6-7955-b39b-b9324470b630','trace-000004','citations','medical','high','Question 4: does the limitation period of three years apply?','decided',0,'judge_failed',1,'flagged',1.0,'2026-03-02 09:00:00.015+00:00','2026-03-01 09:00:00.015+00:00',NULL,NULL,NULL,0,'2026-03-01 09:00:00.021+00:00');
CREATE TABLE run_traces (
    run_id   TEXT NOT NULL REFERENCES runs (id),
    trace_id TEXT NOT NULL REFERENCES traces (id),
    PRIMARY KEY (run_id, trace_id)
);
INSERT INTO "run_traces" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebe5-7e9a-9fe4-0718c12b5fa8');
INSERT INTO "run_traces" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebe6-76f9-813b-1d758d985f2f');
INSERT INTO "run_traces" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebe6-77f7-92b6-e433dd61f5e8');
INSERT INTO "run_traces" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebe6-78b3-9e42-efa60a6e6677');
INSERT INTO "run_traces" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebe6-7955-b39b-b9324470b630');
INSERT INTO "run_traces" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebe6-79fb-abc4-5083d499360d');
INSERT INTO "run_traces" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebe6-7a96-811b-eea7af345c21');
INSERT INTO "run_traces" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebe6-7bce-b2c7-7cc6e196b0a0');
CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id),
    name       TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL,
    UNIQUE (project_id, name)
);
INSERT INTO "runs" VALUES('01a229ce-ebe6-71b7-b443-fc7a80c93c81','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','nightly','2026-03-01 09:00:00.005+00:00');
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE tallies (
    project_id TEXT NOT NULL REFERENCES projects (id),
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    n          BIGINT NOT NULL,
    PRIMARY KEY (project_id, kind, name)
);
INSERT INTO "tallies" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','status','queued',2);
INSERT INTO "tallies" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','status','refused',1);
INSERT INTO "tallies" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','status','judging',0);
INSERT INTO "tallies" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','status','accepted',2);
INSERT INTO "tallies" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','status','final',2);
INSERT INTO "tallies" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','queue','critical_error:blind',1);
INSERT INTO "tallies" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','status','in_review',1);
INSERT INTO "tallies" VALUES('01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','queue','judge_failed:blind',0);
CREATE TABLE texts (
    hash  TEXT PRIMARY KEY, -- SHA-256 of the plain text
    codec TEXT NOT NULL DEFAULT '',
    body  BYTEA NOT NULL
);
INSERT INTO "texts" VALUES('9a49da3a29c2d01b6d306236a72484a1d5e6fb01ad57570455d28f26ce26c264','zstd',X'28B52FFD64140E8D0F0072DE54206067EB0303D9926CDF8FF76D18193321153C84B1B172CB6D2147A8661204010F098884F57F1EBE6191F5E5E3EFB16F31959A639514B7D4AC3AB563AD7BBDEEEE76DC4F256ED65C27A41AA5F7DA2DF57AB9E7B879397E0939666C354E0F3546CD1837C58C55638B19F57ADD14335BAD5E27D75C429C52532D39B6144BBD183FC7AA39569CDC52AF5F37C55A5830F1A3D350266AE28BC4978664081250276CE8479DD317E671FC1550A7CF062E3AA5F3B8225548653C535D7975A4022A820A09372CB26FE0BFC7F201D9E909E791738F2D20F8A029F1D9C0453FAA9C8AB436FE0666A080E083A2F75899A83EA5039511E19250575E11D6C6DFB0C8FED3FC23F7D88083A569A04E07FA81BA3BCAAB426A22A3E38D32323EFCC8888BBAF23A5D268A206564FCE98FC022CBC8F8D39F823D56594465919D4E007FEEB10B5CF8B2C832113264B2C722841042009E80CE2FB2495C8444204063304B0E8552FB7E94ECFB506ADF87927D3F4AEDFB28B1EF47897D1F94D640F6FD674007FB3E1BD161DF8F927D3F4AEDFBA2D406FB7E28B1C1BE1F4A6BB0EF87921AECFBA19406FB7E28A1C1BE1F4A6760DF372394CAD0BE4F86288D311B80184CE445FB3AAA17E6D0643347DF457894ECEB50FD85F98CBE5C848BA16A611E4D5898CB68E6627F792303C6212CE71716430DEB1C8826FB687B56749D');
INSERT INTO "texts" VALUES('66aad39f5e9e4ec2c4912d7d57bc9d0bec16fbf16e8c2e4bab8e6f5619f85a06','zstd',X'28B52FFD641B0EAD0F00F29F58206049EB839832E1C793477D4481E21D6C164005D2D9EE923ADB51A84400C0E1010D050DEBDF3C7CC4BEF5E4E3AFB1AC92428DB984D651A9113AA9CF52A8593BA813AF6E4EDCDDD6E2568EB99BB54BDD8C31C7E920C78C5AE3A65063D51AE3E6C4D821B778ADB41839A74E2BC5A7A5A31C2BA65AF7E1C490EBB5D2528C94426DA575B81B318658B7B49A590F064AFCC824A812157103C49304A91C1C50274CD08F3AA7274AC3F827A04E9F0B4C744AA67175EC9826A42E9AA9AE7865644217112687427DE7C0AAC8F88723F6ED2BF8AFB1BC6F91B80C036FA71F4C23E71A7B28E0014DCEB12A51119F0B4CF4A3CAA9AF75F147280487021E50768E5589EA53325017112687BAE2F5B12EFE887DFBCDF28D5C6303169265813A19E80BEACE285E13521119195F5491F1E1C7454CD415AFD325A28F5560DF2A32FEF406618D551844C5BE9D7E007FAEB1093C22E28B7DAB44B890C81ACBE79C7300FC80CCEF5B242E434120601312901CD5064AD8F7D98852FB3E4AEDFB28B5EFA3D4BE8F52FB3E4AEDFB28B1EF43C9BE3F4A6B481B40334C837D9F0DE8D8F743A98DF6FD5162A37D3F94D6B0EF072535ECFBA09446FBFE28A1D1BE1F4A67D8F7839219F67D502A6336003298680CFB3A542FCCD16C3347DF45384AEDEBA85E98A3D9668E3E8B702801FBFA0C55B7D865BF91F0B01F5438FB51229FD4EB');
INSERT INTO "texts" VALUES('9344b9a931b289b30db4c178e447bdd78c31d0678014c3463e7185409202f1bd','zstd',X'28B52FFD641F0E850F0012A0581F5069EA236ABCDCBFD346CDC6C48CE524164406EA755DB7D5109E4D636626840D050DEBBFFCFBC4BA75E4E1EF610F6A75CC5AE9ACD69D9AA1EE7450B7C54E2B834E9FD3BA8D42DD8B356EC4899B91E1668A55E3D3AAB149DC782DC5189966CC672D66A91727B654F351DCDA61CD2C751263D4D86A6E84D461A825941642A98D3947B54EBD5432CD8A3088F0A192A011EAE106872309321E289ECE97A00F754E47E2A2F82F9E4E9FC943744A6571658725D685D4C632D519AF8A5C68033E44A14F9D41B446095FE18975FB0AFE7B585EB7075C8601B7D315CA22E71E1651C0039A5A638D500F9FC943F4A1CAA9AE35F14F440244010F68B7C61AA1FA94CAD3067C88429DF1EA5813FFC4BAFD25F945EE6103169024793A95E70BEAAE305E17520F09154F344AF8EF610322EA8CD7E9F250D72AB06EA3843F7D41D8C31ECA3BE2FBB96EA71FBC9F7B58E4291EDD60DD46F81AF2D8C3B631C61800573CE5D7ED0197214120701312901E8512FB3E4ADBF7DB80CEE17D365062DF47A97D1FA5F67D94D8F75162DF47897D1F25F67D94D8F751C2BEAFC6505C8390BD1AA18D8DB678505AC3BE0F94D4B0EF8F521AECFBA284867D3F289D61DF1F2533D8F745A90C1B402622C3BE1E25FB7A5417E6D0B49943DF221C4AF67528D9D7A1BA3087A6CD1CFAC4129FFDF6C4C47E2471F6CF22861FE2');
INSERT INTO "texts" VALUES('90d5fa42f23ff81f445909890273b2acefdd1b07ba687008c1beb688269632a2','',X'7B226A75646765223A226369746174696F6E73222C226D6F64656C223A226770742D78222C2270726F6D70745F76657273696F6E223A227637222C226F7574707574223A7B226F766572616C6C5F6369746174696F6E5F61636375726163795F73636F7265223A302E392C2274223A22615C2262227D7D');
INSERT INTO "texts" VALUES('bc5e90b970bc91917e0405340bf310ce96430326d0a2bba438e7e0ea2243c867','zstd',X'28B52FFD641A0E6D0F00A29E55206067EB0303D9926CDF8FF76D18193321153C84B1B172CB6D2147A8661204010F098884F57F1EBE6191F5E5E3EFB12BA1969A2D969E43AC19B3D54AF16A6E4CB57BAC7A754BDDAB53BFD6BA194ADD29396EC41273738E172B6EF51E3FA61EB3F71CA75E8ED1428E5B5B4D216EEC38B1F7DC62E61073AC71E25EAC916A2B35D64A29F55A5ADC293573CAB116164CFCE83494899AF822F1A521198204D4091BFA51E7F485791C7F05D4E9B3818B4EE93CAE6DB5D4AA90CA78A6BAF2EA4805540415126E5864DFC07F8FE503B2D313CE23E71E5B40F04159E2B3818B7E543915696DFC0DCC4001C1074DEFB132517D4A072A23C225A1AEBC22AC8DBF6191FDA7F947EEB101074BD3409D0EF4037577945785D44446C71B65647CF891111775E575BA4C1449CAC8F8D31F81459691F1A73F057BACB288CA223B9D00FEDC6317B8F06591652264C8648F4D082184003C019D5F6493B808014420803380D20185927D1F4AF6FD2869DF6F034ADAF7D940A97D1FA5F67D94D8F75162DF47897D1F25FB3E94ECFB51B2EF13A535B0EFAB2174D6C0BEAF86D059C3BE1F94D4B0EF07A534ECFB41090DFB7E503AC3BE1F94CCB0EF07A5326C0099880CFB7A94ECEB505D98A3C9668EBE8B7094D8D751B5304793CD1C7D8B7028297B3F7BF89D88CE637DD66068A8619403D1641F0D4FA3DD65');
INSERT INTO "texts" VALUES('f15a7ea8f9ff6efd4843e740c679179521bb5ed9e1e9a03139c9f3ac280abab9','zstd',X'28B52FFD641C0E950F00022059206049EB839832E1C793477D4481E21D6C164005D2D9EE923ADB51A84400C0E1010D050DEBDF3C7CC4BEF5E4E3AFB1AC1B43492186B8B5D5EDA4D50A39D56825D5C7B9D48C55EA944E6A660A757307B5EAD5DD8A9B1D5BCCEB3473428C7935B7C61C2B468E3BB5C66EA1B65C63CC5027E6DA51AE39C6123BEA9CB5B89152EDD45109ADA65042CCA9D5498BF560A0C48F4C822A511137403C4990CAC10175C204FDA8737AA2348C7F02EAF4B9C044A7641AD7C516234D485D34535DF1CAC8842E224C0E85FACE21A922E31F8ED8B7AFE0BFC6F2BE45E2320CBC9D7E308D9C6BECA180079439C7AA44457C2E30D18F2AA7BED6C51FA1101C0A78409373AC4A549F9281BA883039D415AF8F75F147ECDB6F966FE41A1BB0902C0BD4C9405F507746F19A908AC8C8F8A28A8C0F3F2E62A2AE789D2E117D4905F6AD22E34F6F10D658854154ECDBE907F0E71A9BC02322BED8B74A840B89ACB1E99C730E801F90F97D8BC465084120701312901E8512FB3E4AEDFB28B5EFA3D4BE8FD2F6FD36A0B47D9F0D94D8F7516ADF47A97D1F25F67D94D8F75162DF0FA535ECFB41490DFBFE28A5A17D1F8DA19306F67D3442278DF67D5042C3BE0F94CEB0EF8F9219ECFBA254860D201391615F8FEAC23C9A367368DACCA16F110E25FB3A5417E6D0B49943DF221C4AC2DECF1E7E62623F5238FB67030C77BC');
INSERT INTO "texts" VALUES('869de21a0525ae4ba49d2aa52f3ad5d4d3e0e8b2146405401b0d348e05af7daf','zstd',X'28B52FFD64200E8D0F0022E0581F5069EA236ABCDCBFD346CDC6C48CE524164406EA755DB7D5109E4D636626840D050DEBBFFCFBC4BA75E4E1EF611B2B76146276CE52AB8DE9D5AB976A945A75B395BA99D3EA30D4471DD4A6B1D38BD169845A332FD4CC5A634E9D984F32CC86976146473566C58D31C558256ED656A3C55853BD56536D2983FAA8C49C186AB64E3A2799D6A80F42AC0883081F2A091AA11E6E70389220E381E2E97C09FA50E774242E8AFFE2E9F4993C44A75416D7D4523BBA90DA58A63AE355910B6DC08728F4A93388A451C2577862DDBE82FF1E96D7ED019761C0ED7485B2C8B9874514F080B2D65823D4C367F2107DA872AA6B4DFC13910051C0039A5A638D507D4AE569033E44A1CE7875AC897F62DDFE92FC22F7B0010B48923C9DCAF305755718AF0BA987848A271A25FCF7B0011175C6EB7479A84B2AB06EA3843F7D41D8C31ECA3BE2FBB96EA71FBC9F7B58E4291EDD60DD46F81AF2D8C326638C3100AE78CAAFDB032E434120701312901E8512FB3E4AEDFB28B5EFA3D4BE8F52FB3E4AEDFB286DDF6F033A87F7D940897D1FA5F67D94DAF75162DF0FA535ECFB41490DFBFE28A5C1BE2F4A68D8F783D219D8F76684B23362C49B213A67B0EF8B9219F6FDA054860DE089C8605F47F5C21C4D3673F45984A3C4BE8EAA85399A6CE6E8B30847897D1D55BAD867BF1131B11F9438FB51B261A46F');
INSERT INTO "texts" VALUES('8c451f701f0eba70c3c827c0c9556cbc864a991f5793781020efa2a216423a04','zstd',X'28B52FFD641A0E6D0F00B29E55206067EB0303D9926CDF8FF76D18193321153C84B1B172CB6D2147A8661204010F098884F57F1EBE6191F5E5E3EFB1CCEA25979E4B8B29D7FD5EEBC7AB3553A8756A8B352366ED9AAD5E8B57B763AA1F6AD52CB5C4897562F45A73E3D4AC9463EE9698DF73CC5A715AEF21A71EAF86D07B4CA5E51A33E49A736EB1B798DB424931C5A8314BDD1EEBA4BA176B61C1C48F4E4399A8892F125F1A922148409DB0A11F754E5F98C7F157409D3E1BB8E894CEE3AA7835A50AA98C67AA2BAF8E5440455021E18645F60DFCF7583E203B3DE13C72EEB105041FF4253E1BB8E847955391D6C6DFC00C14107C50F61E2B13D5A774A032225C12EACA2BC2DAF81B16D97F9A7FE41E1B70B0340DD4E9403F5077477955484D6474BC5146C6871F197151575EA7CB4411A68C8C3FFD11586419197FFA53B0C72A8BA82CB2D309E0CF3D76810B5F16592642864CF65886104208C013D0F94536898B104420803380D20185927D1F4AF6FD28D9F7A164DF87927D1F4AF67D94D8F7518A7DBF0D9460DF670325F67D94D8F75162DF0FA535ECFB45490DFB3E504AC3BE0F94D0B0EF03A533ECFB40C98CECFB65181D33B0EF972174CCB0EF07A5326C0099880CFB7A5417E6D0B499A3CF221CA5F675542DCCD16433479F45384AF675A8AAC53EFB8D9C880E617D7E6168A8619403D1641F0D81D79C08');
INSERT INTO "texts" VALUES('6ff51b06b4eb68b6687338eee25c3db46d630321c97b892e72ec6593a2dba45e','zstd',X'28B52FFD641B0E8D0F00F2DF58206049EB839832E1C793477D4481E21D6C164005D2D9EE923ADB51A84400C0E1010D050DEBDF3C7CC4BEF5E4E3AFB1E8343A8839C454BB4E8DB56646AD1B6AACD542ACDBB5D5A7D36A969CEAC4926A3E47756B9558A993B89B42EC0E235E6835A3C5CDEC1673E3665689356B4ECE31A75623D716528DB1D3505B8D1DA75C4289A5D3CB21762D752F3E8BF560A0C48F4C822A511137403C4990CAC10175C204FDA8737AA2348C7F02EAF4B9C044A7641A578492529A90BA68A6BAE29591095D44981C0AF59D035345C63F1CB16F5FC17F8DE57D8BC46518783BFD601A39D7D843010FE839A755898AF85C60A21F554E7DAD8B3F42213814F08032E75895A83E250375116172A82B5E1FEBE28FD8B7DF2CDFC8353660215916A89381BEA0EE8CE23521159191F14515191F7E5CC4445DF13A5D22FA980AEC5B45C69FDE20ACB10A83A8D8B7D30FE0CF35368147447CB16F950817125963D939E71C003F20F3FB1689CB104120701312901EC5063AEDFB28B5EFA3C4BE8F12FB3E4AECFB28B1EFA3C4BE8F12FB3E4AECFB2861DF6F034ADAF7D940A97D7F94D6B0EF072535ECFBA39406FBBE28A161DF0F4A67D8F747C90CF67D512AC3BE1F94C8C0BE3F063AB1018CC13464D8D7A3645F8FEAC23C9A3673E85B8443C9BE0ED58539346DE6D0B499435F59E2B3DF9E98D88F14CEFE193D5172CF');
INSERT INTO "texts" VALUES('137c69d393c6c2edf13ef7c31a054d38574f4f11f95d18e80564b33cf588f2be','',X'5345435245542D50524F4D5054206F662030316132323963652D656265362D373334612D393139332D646234393539323265386330');
INSERT INTO "texts" VALUES('0addb2cd3fea07668dd6703281bfd75e51d0336c5d9bbb0c9d4dcfab88640dd2','',X'7B226F766572616C6C5F6369746174696F6E5F61636375726163795F73636F7265223A302E39352C2273756D6D617279223A225345435245542D5245504F5254227D');
INSERT INTO "texts" VALUES('56a58de4d30dfa535b6c856bf1095cd16023d2ba4015937e3dc5c34de73f81ca','',X'5345435245542D50524F4D5054206F662030316132323963652D656265362D373736312D626361662D623461333235313937393966');
INSERT INTO "texts" VALUES('d7f47ae72939641f8a189813c7c2a71fc2f0f92c15923d08aa7b9ed00078e92a','',X'7B226F766572616C6C5F6369746174696F6E5F61636375726163795F73636F7265223A302E3132352C2273756D6D617279223A225345435245542D5245504F5254227D');
INSERT INTO "texts" VALUES('8f9ab9447b29b15aa9740dc2445aa40993e6d77550fd58329ddd368f24efc275','',X'5345435245542D50524F4D5054206F662030316132323963652D656265362D373834642D623736382D323362346131333566303536');
INSERT INTO "texts" VALUES('c023fd6f388086bab5efe10a850e85656c59ecf2d48a4145cd32c9667f05692e','',X'5345435245542D50524F4D5054206F662030316132323963652D656265362D373962322D393434342D643431363262623233613631');
INSERT INTO "texts" VALUES('cb5ae1cd5efb20c34e50b9ee81632441410ec5807fd9311db041fc25c3098b5b','',X'5345435245542D50524F4D5054206F662030316132323963652D656265362D376135332D396330642D326538643037643363356531');
CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id),
    name         TEXT NOT NULL,
    hash         TEXT NOT NULL UNIQUE, -- SHA-256 of the token; the token itself is never stored
    created_at   TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP,
    revoked_at   TIMESTAMP
);
CREATE TABLE traces (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    external_id    TEXT NOT NULL, -- the file's id
    revision       INTEGER NOT NULL,
    current        BOOLEAN NOT NULL, -- the newest revision of its external id
    content_hash   TEXT NOT NULL,
    candidate_hash TEXT NOT NULL,
    reference_hash TEXT NOT NULL,
    domain         TEXT NOT NULL,
    stakes         TEXT NOT NULL CHECK (stakes IN ('high', 'standard')),
    title          TEXT NOT NULL, -- one line for lists
    cluster        TEXT NOT NULL,
    body_hash      TEXT NOT NULL REFERENCES texts (hash), -- the trace as JSON, without labels
    created_at     TIMESTAMP NOT NULL,
    UNIQUE (project_id, external_id, revision)
);
INSERT INTO "traces" VALUES('01a229ce-ebe5-7e9a-9fe4-0718c12b5fa8','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','trace-000000',1,1,'31d1b057a32ec1ab30b166bd7ce5247b7daab6085ab55b796d3f104902627db0','29b427259cfc6c15881aed209d44696d4967c91a0f3016d4a5c9f9dbb321206f','','legal','high','Question 0: does the limitation period of three years apply?','','9a49da3a29c2d01b6d306236a72484a1d5e6fb01ad57570455d28f26ce26c264','2026-03-01 09:00:00.005+00:00');
INSERT INTO "traces" VALUES('01a229ce-ebe6-76f9-813b-1d758d985f2f','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','trace-000001',1,1,'f6836c3ab9e2e7ecefd5b9b39f9b4895f77fdc795a4679380f6a8225407eb823','80496d7eaeb7f1fc980f2cd77e8979968d8d24f9e4bfa123d41d45e1f7e22291','','medical','high','Question 1: does the limitation period of three years apply?','','66aad39f5e9e4ec2c4912d7d57bc9d0bec16fbf16e8c2e4bab8e6f5619f85a06','2026-03-01 09:00:00.005+00:00');
INSERT INTO "traces" VALUES('01a229ce-ebe6-77f7-92b6-e433dd61f5e8','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','trace-000002',1,1,'f2b317cf38f0d94513a973c485cadf5130b8188a3a18d351e67757aab29377ed','f96a60bdc4281ce3ae3ceab7f044a00c485116576c13b130e632d556bd77466b','','general','standard','Question 2: does the limitation period of three years apply?','','9344b9a931b289b30db4c178e447bdd78c31d0678014c3463e7185409202f1bd','2026-03-01 09:00:00.005+00:00');
INSERT INTO "traces" VALUES('01a229ce-ebe6-78b3-9e42-efa60a6e6677','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','trace-000003',1,1,'e525dc193942badb57cd2a810ffbc0ef7df23e4ce787fea1485f4bcb19c2b5d0','89e2b28d3be795c367c94fc3f34d8aabdb090f80ecca83fa9d0b1265295b9a83','','legal','high','Question 3: does the limitation period of three years apply?','','bc5e90b970bc91917e0405340bf310ce96430326d0a2bba438e7e0ea2243c867','2026-03-01 09:00:00.005+00:00');
INSERT INTO "traces" VALUES('01a229ce-ebe6-7955-b39b-b9324470b630','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','trace-000004',1,1,'ed9aafe63dd9b9cb853d822fbfcf0c59fbfefa555267fcaec9f1066b7f392ee8','64bf111595440c63504facfb5e176edd6368adfb8e77140d72c03b9c46d2300d','','medical','high','Question 4: does the limitation period of three years apply?','','f15a7ea8f9ff6efd4843e740c679179521bb5ed9e1e9a03139c9f3ac280abab9','2026-03-01 09:00:00.005+00:00');
INSERT INTO "traces" VALUES('01a229ce-ebe6-79fb-abc4-5083d499360d','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','trace-000005',1,1,'de541b1cf3ef7d708548019ade56e61d0495fff1e8fa1cd8415b0b6d03f8d583','7d4373b04eb0cb8ecc48719f39a7c05308d4c7dac556bdd918de66f53e507ae3','','general','standard','Question 5: does the limitation period of three years apply?','','869de21a0525ae4ba49d2aa52f3ad5d4d3e0e8b2146405401b0d348e05af7daf','2026-03-01 09:00:00.005+00:00');
INSERT INTO "traces" VALUES('01a229ce-ebe6-7a96-811b-eea7af345c21','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','trace-000006',1,1,'553b85d5cb394ea27737192795c278cacd056e2c6e4519bd4c41a3d7f168b334','806463b24f5f6ab474e931c9df998708db16222ade0adb7741fbba2b8d9bc0f1','','legal','high','Question 6: does the limitation period of three years apply?','','8c451f701f0eba70c3c827c0c9556cbc864a991f5793781020efa2a216423a04','2026-03-01 09:00:00.005+00:00');
INSERT INTO "traces" VALUES('01a229ce-ebe6-7bce-b2c7-7cc6e196b0a0','01a229ce-ebd9-7f2f-9c3a-d7eaac1c8b0a','trace-000007',1,1,'6865670a95d799b8d14f63909f438b9fac8d1162253b7ee7b93a9a0560788801','d93c9ac1e31aec2326468945ff538a37dde479273e4f17893cbbf4959d8d03ca','','medical','high','Question 7: does the limitation period of three years apply?','','6ff51b06b4eb68b6687338eee25c3db46d630321c97b892e72ec6593a2dba45e','2026-03-01 09:00:00.005+00:00');
CREATE TABLE users (
    id                  TEXT PRIMARY KEY,
    email               TEXT NOT NULL UNIQUE, -- lower case
    name                TEXT NOT NULL,
    role                TEXT NOT NULL CHECK (role IN ('reviewer', 'lead', 'auditor', 'admin')),
    password_hash       TEXT NOT NULL, -- argon2id, encoded with its parameters; empty = cannot sign in by password
    session_epoch       INTEGER NOT NULL DEFAULT 0, -- raised to end every session of the user
    failed_sign_ins     INTEGER NOT NULL DEFAULT 0,
    sign_in_paused_until TIMESTAMP,
    created_at          TIMESTAMP NOT NULL,
    disabled_at         TIMESTAMP
);
INSERT INTO "users" VALUES('01a229ce-ebde-7286-a7df-d1888b684cd5','ana@example.org','Ana','reviewer','',0,0,NULL,'2026-03-01 09:00:00.003+00:00',NULL);
INSERT INTO "users" VALUES('01a229ce-ebdf-7639-a0b7-44b8f3b79c64','lea@example.org','Lea','lead','',0,0,NULL,'2026-03-01 09:00:00.004+00:00',NULL);
CREATE UNIQUE INDEX traces_current ON traces (project_id, external_id) WHERE current;
CREATE INDEX run_traces_trace ON run_traces (trace_id);
CREATE INDEX evaluations_newest ON evaluations (project_id, created_at, id);
CREATE INDEX evaluations_status ON evaluations (project_id, status, created_at, id);
CREATE INDEX evaluations_judge ON evaluations (project_id, judge, created_at, id);
CREATE INDEX evaluations_reasoned ON evaluations (project_id, created_at, id) WHERE lead_reason <> '';
CREATE INDEX evaluations_work ON evaluations (created_at, id) WHERE status IN ('queued', 'judging');
CREATE INDEX reviews_queue ON reviews (project_id, urgency, due_at, id, judge, domain) WHERE state IN ('open', 'claimed', 'adjudication');
CREATE INDEX reviews_adjudication ON reviews (project_id, urgency, due_at, id) WHERE adjudicating AND state IN ('open', 'claimed', 'adjudication');
CREATE INDEX reviews_due ON reviews (project_id, due_at) WHERE state IN ('open', 'claimed', 'adjudication');
CREATE INDEX reviews_holder ON reviews (holder_id, lease_expires_at) WHERE holder_id IS NOT NULL;
CREATE INDEX reviews_trace ON reviews (trace_id);
CREATE INDEX decisions_review ON decisions (review_id, decided_at);
CREATE INDEX decisions_evaluation ON decisions (evaluation_id, decided_at);
CREATE INDEX decisions_user ON decisions (user_id, decided_at);
CREATE INDEX labels_pairs ON labels (project_id, judge, trace_id, reviewer);
CREATE INDEX audit_events_subject ON audit_events (subject, seq);
CREATE TRIGGER decisions_no_update BEFORE UPDATE ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER decisions_no_delete BEFORE DELETE ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER first_answers_no_update BEFORE UPDATE ON first_answers BEGIN SELECT RAISE(ABORT, 'first answers are append-only'); END;
CREATE TRIGGER first_answers_no_delete BEFORE DELETE ON first_answers BEGIN SELECT RAISE(ABORT, 'first answers are append-only'); END;
CREATE TRIGGER labels_no_update BEFORE UPDATE ON labels BEGIN SELECT RAISE(ABORT, 'labels are append-only'); END;
CREATE TRIGGER labels_no_delete BEFORE DELETE ON labels BEGIN SELECT RAISE(ABORT, 'labels are append-only'); END;
CREATE TRIGGER attempts_no_update BEFORE UPDATE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
CREATE TRIGGER attempts_no_delete BEFORE DELETE ON attempts BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
CREATE TRIGGER audit_events_no_update BEFORE UPDATE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
CREATE TRIGGER audit_events_no_delete BEFORE DELETE ON audit_events BEGIN SELECT RAISE(ABORT, 'audit events are append-only'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('goose_db_version',3);
COMMIT;
