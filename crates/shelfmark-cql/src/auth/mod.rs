//! Who may connect: PasswordAuthenticator, and the roles behind it.
