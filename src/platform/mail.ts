import { connect, isIP } from 'node:net';
import type { SMTPTransportOptions } from 'nodemailer';
import type { Config } from './config.ts';

/**
 * Time limits in milliseconds, between those of RFC 5321 (section 4.5.3.2: five minutes and more) and a worker's patience.
 * Servers delay their greeting on purpose, and scan a mail before they accept it.
 */
const CONNECT_MS = 30_000;
const GREETING_MS = 60_000;
const SILENCE_MS = 120_000;
const TOTAL_MS = 240_000;
/** For the check of `doctor`, whose caller waits. */
const CHECK_MS = 20_000;

const MAX_REASON = 300;
/** Replies that are about the login or encryption of the connection, not about the mail (RFC 4954, RFC 3207). */
const SESSION_REPLIES = new Set([530, 534, 535, 538]);

/** A mail server did not accept a mail, or could not be reached. */
export class MailFault extends Error {
  /** Whether the server has refused the mail for good (5xx), so that another attempt is useless. */
  readonly isPermanent: boolean;

  constructor(reason: string, isPermanent: boolean, cause: unknown) {
    super(reason, { cause });
    this.isPermanent = isPermanent;
  }
}

/** The text of a mail. */
export interface Letter {
  subject: string;
  text: string;
}

/** A mail with its recipient. `id` becomes its Message-ID, so that receivers recognize a mail that was sent twice. */
export interface Mailing extends Letter {
  id: string;
  to: string;
}

/** A mail server. Only workers send mails. */
export interface MailServer {
  /** Sends a mail. Resolves when the server has accepted it. Throws `MailFault`. */
  send(mailing: Mailing, signal: AbortSignal): Promise<void>;
  /** Connects and logs in, without a mail. Throws `MailFault`. */
  greet(): Promise<void>;
}

/** Whether mails can be queued: a mail server is configured. */
export const sendsMails = ({ SMTP_URL }: Pick<Config, 'SMTP_URL'>): boolean => SMTP_URL !== undefined;

/** Returns the mail server, or `undefined` where none is configured. Its library is loaded when it is first used. */
export function mailServerOf({
  SMTP_URL: url,
  MAIL_FROM: from,
  BASE_URL,
}: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'BASE_URL'>): MailServer | undefined {
  if (url === undefined) return undefined;
  const { hostname } = new URL(BASE_URL);
  const open = async (connectionTimeout: number, greetingTimeout: number, socketTimeout: number) => {
    const { createTransport } = await import('nodemailer');
    const limits = { connectionTimeout, greetingTimeout, socketTimeout };
    return createTransport({
      url,
      name: clientName(hostname),
      getSocket: connectWithin(connectionTimeout),
      disableFileAccess: true,
      disableUrlAccess: true,
      ...requireEncryption(url),
      ...limits,
    });
  };
  return {
    async send({ id, to, subject, text }, signal) {
      const transport = await open(CONNECT_MS, GREETING_MS, SILENCE_MS);
      const headers = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };
      const message = { from, to: { name: '', address: to }, subject, text, headers, messageId: `<${id}@${hostname}>` };
      const limited = { signal: AbortSignal.any([signal, AbortSignal.timeout(TOTAL_MS)]) };
      await transport.sendMail(Object.assign(message, limited)).catch(rethrow);
    },
    async greet() {
      await (await open(CHECK_MS, CHECK_MS, CHECK_MS)).verify().catch(rethrow);
    },
  };
}

/**
 * Returns a function that opens a connection, whose address the operating system resolves. nodemailer queries the name servers
 * first, and so ignores the hosts file.
 */
const connectWithin =
  (timeoutMs: number): NonNullable<SMTPTransportOptions['getSocket']> =>
  ({ host = 'localhost', port, secure }, callback) => {
    const socket = connect({ host, port: Number(port) || (secure ? 465 : 587) });
    const expire = () => socket.destroy(Object.assign(new Error('Connection timeout'), { code: 'ETIMEDOUT' }));
    socket.setTimeout(timeoutMs).once('timeout', expire).once('error', callback);
    socket.once('connect', () => {
      socket.setTimeout(0).off('timeout', expire).off('error', callback);
      callback(null, { connection: socket });
    });
  };

/**
 * Returns the option that a password requires an encrypted connection, unless the URL sets it. An attacker who removes STARTTLS
 * from the server's reply could otherwise read the password and the one-time links.
 */
function requireEncryption(url: string): { requireTLS?: true } {
  const { password, searchParams } = new URL(url);
  return password !== '' && !searchParams.has('requireTLS') ? { requireTLS: true } : {};
}

/** The argument of EHLO (RFC 5321 section 4.1.1.1): servers refuse the loopback address that nodemailer falls back to. */
function clientName(hostname: string): string {
  if (hostname.startsWith('[')) return `[IPv6:${hostname.slice(1)}`;
  return isIP(hostname) ? `[${hostname}]` : hostname;
}

/** What nodemailer adds to errors. */
interface TransportError extends Error {
  code?: string;
  originalCode?: string;
  command?: string;
  response?: string;
  responseCode?: number;
}

function rethrow(error: TransportError): never {
  const { code, originalCode, command = '', response, responseCode = 0 } = error;
  const isAboutMail = /^(MAIL FROM|RCPT TO|DATA)/.test(command) && !SESSION_REPLIES.has(responseCode);
  const reply = command === 'STARTTLS' && response ? `STARTTLS: ${response}` : response;
  const reason = reply ?? originalCode ?? code ?? error.message;
  throw new MailFault(printable(reason), isAboutMail && responseCode >= 500 && responseCode < 600, error);
}

const printable = (text: string): string =>
  text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_REASON);
