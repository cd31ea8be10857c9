-- The certificate of before was self-signed; the server makes a CA and another at its next start.
ALTER TABLE tls_certificate ADD COLUMN ca BLOB;
ALTER TABLE tls_certificate ADD COLUMN ca_key BLOB;
ALTER TABLE tls_certificate ADD COLUMN ca_names TEXT CHECK (json_valid(ca_names));
ALTER TABLE tls_certificate ADD COLUMN ca_expires_at INTEGER;
