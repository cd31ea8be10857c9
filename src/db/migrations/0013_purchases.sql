DROP INDEX transactions_bought;
CREATE INDEX transactions_bought ON transactions (coalesce(bought_at, created_at), id, recorded_by, total_amount);
CREATE INDEX transaction_delegates_barcode ON transaction_delegates (barcode);
CREATE INDEX erased_tickets_hash ON erased_tickets (hash);
