import type { Config } from './config.ts';

/** Time limit for each step of a mail server, in milliseconds. */
const TIMEOUT_MS = 10_000;

export interface Letter {
  to: string;
  subject: string;
  text: string;
}

/** The mail server of `SMTP_URL`. */
export interface Mail {
  /** Resolves when the server has accepted the mail. */
  send(letter: Letter): Promise<void>;
}

/** Returns the mail client, or `undefined` where none is configured. It is loaded with the first mail. */
export function openMail({ SMTP_URL, MAIL_FROM }: Pick<Config, 'SMTP_URL' | 'MAIL_FROM'>): Mail | undefined {
  if (SMTP_URL === undefined) return undefined;
  return {
    async send({ to, subject, text }) {
      const { createTransport } = await import('nodemailer');
      const transport = createTransport({
        url: SMTP_URL,
        connectionTimeout: TIMEOUT_MS,
        greetingTimeout: TIMEOUT_MS,
        socketTimeout: TIMEOUT_MS,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      await transport.sendMail({ from: MAIL_FROM, to: { name: '', address: to }, subject, text });
    },
  };
}
