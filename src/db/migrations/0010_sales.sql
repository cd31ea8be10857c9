ALTER TABLE transactions ADD COLUMN erased_at INTEGER;
CREATE INDEX transactions_bought ON transactions (coalesce(bought_at, created_at), id);
CREATE INDEX transactions_staff ON transactions (recorded_by);

ALTER TABLE transaction_payments ADD COLUMN net INTEGER;
-- The amount where the amounts are the total already, otherwise the amount less the change.
UPDATE transaction_payments AS p SET net = amount - iif(
    (SELECT total(o.amount) FROM transaction_payments o WHERE o.transaction_id = p.transaction_id)
        = (SELECT t.total_amount FROM transactions t WHERE t.id = p.transaction_id),
    0, coalesce(change, 0));

CREATE TABLE erased_tickets (
    transaction_id INTEGER NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
    hash           BLOB NOT NULL,
    PRIMARY KEY (transaction_id, hash)
) STRICT, WITHOUT ROWID;

ALTER TABLE inconsistencies ADD COLUMN note TEXT;
CREATE INDEX inconsistencies_settled ON inconsistencies (settled_at, id) WHERE settled_at IS NOT NULL;
