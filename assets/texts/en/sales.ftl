sales-purchases = Purchases
sales-nothing-is-sold-yet = Nothing is sold yet
sales-point-of-sale-apps-send-their-purchases = Point-of-sale apps send their purchases to <code>POST /tx/new</code>. Every purchase is kept, and its inconsistencies are listed.
sales-create-a-client-for-a-till = Create a client for a till
sales-no-purchases = No purchases
sales-sold-by = Sold by
sales-paid-by = Paid by
sales-tickets = Tickets
sales-total-in = Total{ $currency }
sales-to-look-into-count = { $count } to look into
sales-settled = settled
sales-first-and-more = { $first } and { $count } more
sales-inconsistencies = Inconsistencies
sales-no-inconsistencies = No inconsistencies
sales-a-purchase-is-always-accepted-whatever-the = A purchase is always accepted, whatever the till sends. Where sums, products, tickets or counters do not match, it appears here.
sales-amount-at-time = { $amount }, { $time }
sales-amount-at-time-sold-by = { $amount }, { $time }, sold by { $staff }
sales-note-findings-and-actions = Note: findings and actions
sales-the-till-was-50-cents-short = The till was 50 cents short.
sales-settle-purchase = Settle<span class="unseen"> inconsistencies of purchase { $id }</span>
sales-more-follow-when-these-are-settled = More follow when these are settled.
sales-sales = Sales
sales-purchase-code = Purchase <span class="code">{ $code }</span>
sales-refunded = refunded
sales-to-look-into = to look into
sales-sent-times = sent { $count } times, each time another
sales-somebody-was-deleted-permanently = somebody was deleted permanently { $ago }
sales-none = None.
sales-what-is-settled = What is settled
sales-what-you-found-out-or-did-about = What you found out, or did about it
sales-settle-ticked = Settle<span class="unseen"> what is ticked of purchase { $id }</span>
sales-settled-by-at = settled by { $by }, { $at }
sales-open-again = Open again
sales-number-id = number { $id }
sales-about = About
sales-bought = Bought
sales-the-till-said-no-time = The till said no time
sales-came-in = Came in
sales-lets-in-to = Lets in to
sales-note = Note
sales-all-of-it-is-in-what-the = All of it is in what the till sent
sales-no-line-could-be-read = No line could be read from what the till sent.
sales-quantity = Quantity
sales-each = Each
sales-discount = Discount
sales-total = Total
sales-unknown-product = unknown product
sales-amount-in-total = <strong>{ $amount }</strong> in total
sales-paid = Paid
sales-no-payment-could-be-read = No payment could be read from what the till sent.
sales-method = Method
sales-reference = Reference
sales-amount = Amount
sales-change = Change
sales-kept = Kept
sales-tickets-made = Tickets made
sales-attendee = Attendee
sales-barcode = Barcode
sales-for = For
sales-only-the-first-500-of-each = Only the first 500 of each are shown. <a href="/console/sales/export?format=json&amp;q={ $code }" download>The purchase as JSON</a> has them all.
sales-what-the-till-sent-word-for-word = What the till sent, word for word
sales-body-by = { $time }, by { $sender }
sales-first-in-force = First, in force: { $body }
sales-revision = Revision { $number }: { $body }
sales-its-tickets-are-still-being-made = Its tickets are still being made.
sales-it-is-too-long-to-be-shown = It is too long to be shown here; download it.
sales-download-body = Download<span class="unseen"> body { $id }</span>
sales-bytes = { $count } bytes
sales-settled-2 = Settled
sales-nothing-is-settled-yet = Nothing is settled yet
sales-what-somebody-has-looked-into-stands-here = What somebody has looked into stands here, with what they found out.
sales-purchase = Purchase
sales-totals = Totals
sales-purchases-to-look-into = purchases to look into
sales-what-tills-send-is-added-up-here = What tills send is added up here, by method, product and staff, day by day.
sales-altogether = Altogether
sales-sum = Sum
sales-as-csv = As CSV<span class="unseen">, { $title }</span>
sales-no-matches-try-fewer-filters = No matches. Try fewer filters.
sales-table = Table { $title }
sales-all-days-in = All days{ $currency }
sales-all-days = All days
sales-lines =
    { $count ->
        [one] 1 line
       *[other] { $count } lines
    }
sales-amount-of-purchases =
    <strong>{ $amount }</strong> in { $count ->
        [one] 1 purchase
       *[other] { $count } purchases
    }
sales-count-of-tickets =
    { $count ->
        [one] <strong>1</strong> ticket
       *[other] <strong>{ $count }</strong> tickets
    }
sales-payments =
    { $count ->
        [one] 1 payment
       *[other] { $count } payments
    }
sales-units =
    { $count ->
        [one] { $count } unit
       *[other] { $count } units
    }
sales-count-of-purchases =
    { $count ->
        [one] 1 purchase
       *[other] { $count } purchases
    }
sales-inconsistencies-settled =
    { $count ->
        [one] 1 inconsistency settled.
       *[other] { $count } inconsistencies settled.
    }
sales-product = Product
