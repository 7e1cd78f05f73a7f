import type { Config } from './config.ts';

/** Milliseconds for which a mail server may keep us waiting, at each step. */
const TIMEOUT_MS = 10_000;

export interface Letter {
  to: string;
  subject: string;
  text: string;
}

/** The mail server of `SMTP_URL`. */
export interface Mail {
  /** Resolves when the server has taken the letter. */
  send(letter: Letter): Promise<void>;
}

/** The way to send mails, or `undefined` where none is set. The client is loaded only for the first letter. */
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
