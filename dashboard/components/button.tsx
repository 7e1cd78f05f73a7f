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
 * A button. A label that is only text is wrapped in an element: a browser's translation replaces text nodes, and React
 * updates a text node that it keeps, as it does inside React Aria's context providers, after it has left the page.
 *
 * While pending it keeps the focus, is `aria-disabled` and ignores presses.
 * React Aria's own `isPending` is not used: its announcement refers to the button, which may be unmounted by then.
 */
export const Button = ({
  look,
  small,
  icon,
  isPending,
  onPress,
  type,
  children,
  ...props
}: AriaButtonProps & Appearance) => (
  <AriaButton
    {...props}
    type={isPending ? 'button' : type}
    onPress={isPending ? undefined : onPress}
    aria-disabled={isPending || undefined}
    className={classOf({ look, small, icon })}
  >
    {typeof children === 'string' ? <span>{children}</span> : children}
  </AriaButton>
);

/** A link to another page of the dashboard, styled as a button. */
export const ButtonLink = ({ look, small, icon, ...props }: LinkProps & Appearance) => (
  <Link {...(props as LinkProps)} className={classOf({ look, small, icon })} />
);

/** A link to a URL outside the dashboard, styled as a button. */
export const ButtonAnchor = ({ look, ...props }: React.ComponentProps<'a'> & Appearance) => (
  <a {...props} className={classOf({ look })} />
);
