"""Signing in: by an API key, by a link in a mail, by Slack; and signing out."""
