# What scripts say; # stands for a number or a time.
scripts-unsaved = Changes in other sections of this page are not saved and will be lost. Go on?
scripts-too-large = This file is too large. Split it.
scripts-last-contact = Last contact #
scripts-copied = Copied
scripts-all-selected = All selected
scripts-selected = # selected
scripts-no-answer = The server does not answer.
scripts-not-recorded = Not recorded
scripts-new = # new
scripts-arrived = # arrived
scripts-checking = Checking …
scripts-trusted = Trusted: this device trusts the server.
scripts-not-trusted = Not yet: this device does not trust the server.
