"""What Slack sends to an app, as JSON: events, interactions, commands. Pure: nothing is sent."""
