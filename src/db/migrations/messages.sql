-- The message that every file begins with: what somebody ordered is ready. It is sent once there is a gateway for
-- texts. Older files have it from step 8.

INSERT INTO message_templates (channel, slug, content, created_at, updated_at) VALUES
    ('sms', 'order-cleared', 'Hello{% if delegate.firstName %} {{ delegate.firstName }}{% endif %}, your order is ready. {{ settings.name }}', 0, 0);
INSERT INTO automations (name, active, interaction_type, channel, template, within_minutes, since) VALUES
    ('Order is ready', 1, 'order-cleared', 'sms', 'order-cleared', 60, 0);
