"""Webhooks: whatever can POST begins and resumes threads. Sources are declared by the operator."""
