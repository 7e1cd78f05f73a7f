import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import { Link, type LinkProps } from 'wouter';
import styles from './button.module.css';

type Look = 'primary' | 'plain' | 'quiet' | 'danger' | 'danger-quiet';

interface Appearance {
  look?: Look;
  small?: boolean;
  icon?: boolean;
}

const classOf = ({ look = 'plain', small, icon }: Appearance): string =>
  [styles.button, styles[look], small && styles.small, icon && styles.icon].filter(Boolean).join(' ');

/**
 * A button. While it is pending it keeps the keyboard, says so, and does nothing more.
 *
 * Not by React Aria's own `isPending`, whose announcement names a button that may be gone with its page.
 */
export const Button = ({ look, small, icon, isPending, onPress, type, ...props }: AriaButtonProps & Appearance) => (
  <AriaButton
    {...props}
    type={isPending ? 'button' : type}
    onPress={isPending ? undefined : onPress}
    aria-disabled={isPending || undefined}
    className={classOf({ look, small, icon })}
  />
);

/** A link that looks like a button, to another page of the dashboard. */
export const ButtonLink = ({ look, small, icon, ...props }: LinkProps & Appearance) => (
  <Link {...(props as LinkProps)} className={classOf({ look, small, icon })} />
);

/** The same to an address outside of the pages. */
export const ButtonAnchor = ({ look, ...props }: React.ComponentProps<'a'> & Appearance) => (
  <a {...props} className={classOf({ look })} />
);
