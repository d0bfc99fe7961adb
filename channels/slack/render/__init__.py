"""What people see in Slack: questions, results, forms and the Home page, as plain blocks.

Values in, values out: nothing here calls Slack, reads a clock or keeps anything. `message` is the
way in for what goes out; `modals` and `filled` are the two ways of a form.
"""
