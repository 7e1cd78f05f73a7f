import { RESET_LINK_HOURS, SETUP_LINK_HOURS } from '../../domain/team/accounts.ts';
import { NOTICE_DAYS } from '../../domain/team/mails.ts';
import { INVITATION_DAYS } from '../../domain/team/members.ts';
import { TEST_ANSWERS_KEPT_HOURS } from '../questions/test-answers.ts';
import { ENDED_MAILS_KEPT_DAYS } from '../tenants/retention.ts';
import type { TableEntry } from './entry.ts';

const WITH_ACCOUNT = 'as long as the account';

/** Tables with data of the team's members. */
export const TEAM: Record<string, TableEntry> = {
  accounts: {
    why: 'logins of team members',
    kept: 'until the only tenant of its owner is deleted; the account of a removed member stays',
    team: 'id email name created_at email_proven_at totp_confirmed_at',
    secret: 'password_hash totp_sealed recovery_hashes',
    technical: 'totp_last_step',
  },
  account_subjects: {
    why: 'the id of a member at an identity provider, for single sign-on',
    kept: WITH_ACCOUNT,
    team: 'issuer subject account_id created_at',
  },
  account_links: {
    why: 'links for the first login and for new passwords',
    kept: `until used, at most ${SETUP_LINK_HOURS} hours for the first login and ${RESET_LINK_HOURS} hour for a password`,
    team: 'account_id mailed',
    secret: 'token_hash',
    technical: 'purpose expires_at',
  },
  sessions: {
    why: 'logins in progress, which members see and can end',
    kept: 'until logout, after `SESSION_IDLE_HOURS` without use, at most `SESSION_MAX_DAYS`',
    team: 'account_id user_agent ip created_at last_seen_at',
    secret: 'token_hash',
    technical: 'id expires_at',
  },
  members: {
    why: 'who belongs to the team, with which role',
    kept: 'until the member is removed',
    team: 'id account_id role availability capacity created_at',
    technical: 'tenant_id',
  },
  invitations: {
    why: 'invitations to the team',
    kept: `until accepted or revoked, at most ${INVITATION_DAYS} days`,
    team: 'email role created_at mail_status mail_error mail_at',
    secret: 'token_hash mailed_token_hash',
    technical: 'tenant_id id expires_at',
  },
  mails: {
    why: 'mails to members that wait for the mail server, and their outcome',
    kept: `the text until sent, at most until its link expires or for ${NOTICE_DAYS} days; the outcome ${ENDED_MAILS_KEPT_DAYS} day`,
    team: 'recipient error',
    secret: 'letter_sealed',
    technical: 'tenant_id id kind invitation_id status attempts created_at due_at expires_at ended_at',
  },
  mail_counts: {
    why: 'the number of mails to each address in a day, as a digest of the address, to limit them',
    kept: 'until the end of the next day',
    team: 'counted',
    technical: 'day mails',
  },
  audit_log: {
    why: 'actions of the team, so that it can be shown who did what',
    kept: 'as long as the tenant',
    person: {
      by: 'content',
      erasure: { digest: 'target_id' },
      export: { omit: 'actions of the team; they name a person only if the profile was changed' },
    },
    identity: 'target_id',
    team: 'at actor_type actor_id actor_name action target_name fields ip',
    technical: 'tenant_id id request_id',
  },
  views: {
    why: 'saved views of the inbox',
    kept: 'until deleted, or until the member is removed',
    team: 'member_id',
    settings: 'name filter sort shared',
    technical: 'tenant_id id created_at updated_at',
  },
  test_answers: {
    why: 'answers of members who try out a question',
    kept: `${TEST_ANSWERS_KEPT_HOURS} hours`,
    team: `member_id question_id question_version state values comment displayed_at answered_at duration_ms metadata received_at
      clock_skew_ms`,
    technical: 'tenant_id id card_id revision updated_at',
  },
};
