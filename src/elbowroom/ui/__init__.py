"""What people look at: pictures for reports (`draw/`)."""
