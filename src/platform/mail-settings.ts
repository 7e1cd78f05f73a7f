import { z } from 'zod';

/** Refuses a URL with one of `/?#` before an `@`: in the user or password, where it ends the host. */
export const withEncodedLogin = (url: z.ZodString): z.ZodString =>
  url.refine(value => !/^\w+:\/\/.*[/?#].*@/.test(value), {
    message: 'has /, ? or # in its user or password: write them percent-encoded, as %2F, %3F and %23',
  });

/** An address, or a name and an address in angle brackets. nodemailer sends mails without a sender too. */
export const MailFrom = z
  .string()
  .max(320)
  .refine(
    value => /^([^<>]*<[^\s@<>"',;]+@[^\s@<>"',;]+>|[^\s@<>"',;]+@[^\s@<>"',;]+)$/.test(value.trim()),
    'must be an address such as parley@example.com or Parley <parley@example.com>, without quotes around it',
  );
