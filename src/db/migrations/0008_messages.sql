-- Messages: their texts, attempts and addresses; templates, gateways, automations. The table of
-- messages is made anew, as its states are; nothing refers to it.
DROP INDEX messages_delegate;
DROP INDEX messages_template;
ALTER TABLE messages RENAME TO messages_before;

-- Messages to people: what is to be sent, and what became of it. Those that were sent are known to
-- searches (comms); template is the template's slug. An attempt is 'sending' from before it begins
-- until its outcome is known, so that one that was cut off by a crash is found ('unknown') and not
-- sent a second time by itself.
CREATE TABLE messages (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    -- NULL: to a user, or a test.
    delegate_id INTEGER REFERENCES delegates (id),
    channel     TEXT NOT NULL CHECK (channel IN ('email', 'sms', 'push')),
    template    TEXT,
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'failed', 'unknown', 'cancelled')),
    created_at  INTEGER NOT NULL,
    sent_at     INTEGER,
    -- An e-mail address, a phone number, or an app's push token.
    address     TEXT NOT NULL DEFAULT '',
    subject     TEXT,
    body        TEXT,
    html        TEXT,
    -- 1: it holds a secret, such as a one-time password: never shown, and gone once it is over.
    secret      INTEGER NOT NULL DEFAULT 0 CHECK (secret IN (0, 1)),
    -- What had it sent, such as 'api' or 'automation:order-cleared'.
    origin      TEXT NOT NULL DEFAULT '',
    attempts    INTEGER NOT NULL DEFAULT 0,
    tried_at    INTEGER,
    -- Not before; of those that wait.
    next_at     INTEGER,
    -- What is late is worse than nothing: not after.
    expires_at  INTEGER,
    failure     TEXT,
    opened_at   INTEGER
) STRICT;
CREATE INDEX messages_delegate ON messages (delegate_id) WHERE delegate_id IS NOT NULL;
CREATE INDEX messages_template ON messages (channel, template, delegate_id) WHERE state = 'sent';
CREATE INDEX messages_waiting ON messages (next_at) WHERE state = 'waiting';
CREATE INDEX messages_sending ON messages (id) WHERE state = 'sending';
CREATE INDEX messages_address ON messages (address COLLATE NOCASE) WHERE delegate_id IS NULL;

INSERT INTO messages (id, delegate_id, channel, template, state, created_at, sent_at)
    SELECT id, delegate_id, channel, template, state, created_at, sent_at FROM messages_before;
DROP TABLE messages_before;

-- What messages say: Jinja over the delegate. An app names an e-mail's by its id, a text's by its slug.
CREATE TABLE message_templates (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    channel    TEXT NOT NULL CHECK (channel IN ('email', 'sms', 'push')),
    slug       TEXT NOT NULL,
    -- An e-mail's subject, a push message's title.
    subject    TEXT,
    content    TEXT NOT NULL,
    html       TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (channel, slug)
) STRICT;

-- How messages leave. The secret (a password, a token, a service account's key) stands apart: the
-- definition is shown and exported, the secret never is.
CREATE TABLE gateways (
    channel    TEXT PRIMARY KEY CHECK (channel IN ('email', 'sms', 'push')),
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    secret     TEXT,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A template that is sent by itself when an interaction of a type is stored.
CREATE TABLE automations (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    name             TEXT NOT NULL UNIQUE,
    active           INTEGER NOT NULL CHECK (active IN (0, 1)),
    interaction_type TEXT NOT NULL,
    -- At this device or one below it; NULL: anywhere.
    device_id        INTEGER REFERENCES devices (id),
    delegate_type    TEXT,
    channel          TEXT NOT NULL CHECK (channel IN ('email', 'sms', 'push')),
    template         TEXT NOT NULL,
    -- What an app uploads later than this after it happened sends nothing.
    within_minutes   INTEGER NOT NULL CHECK (within_minutes > 0),
    -- Only what comes after it was made or switched on counts.
    since            INTEGER NOT NULL
) STRICT;

-- The newest interaction that automations have seen; so none is seen twice, or missed by a restart.
CREATE TABLE automation_cursor (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    interaction_id INTEGER NOT NULL
) STRICT;

-- By which the addresses of pictures in e-mails are signed; whoever opens one has opened the e-mail.
CREATE TABLE message_key (
    id  INTEGER PRIMARY KEY CHECK (id = 1),
    key BLOB NOT NULL
) STRICT;

-- Out of the box: what somebody ordered is ready. It is sent once there is a gateway for texts.
INSERT INTO message_templates (channel, slug, content, created_at, updated_at) VALUES
    ('sms', 'order-cleared', 'Hello{% if delegate.firstName %} {{ delegate.firstName }}{% endif %}, your order is ready. {{ settings.name }}', 0, 0);
INSERT INTO automations (name, active, interaction_type, channel, template, within_minutes, since) VALUES
    ('Order is ready', 1, 'order-cleared', 'sms', 'order-cleared', 60, 0);
