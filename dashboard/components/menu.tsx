import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import styles from './menu.module.css';

export interface MenuChoice {
  id: string;
  label: string;
  /** A detail next to the label. */
  hint?: string;
}

interface MenuButtonProps {
  label: string;
  choices: readonly MenuChoice[];
  choose(id: string): void;
  isDisabled?: boolean;
  large?: boolean;
  /** For menus that a shortcut opens too. */
  isOpen?: boolean | undefined;
  setOpen?: ((isOpen: boolean) => void) | undefined;
}

/** Button that opens a menu of actions. */
export const MenuButton = ({ label, choices, choose, isDisabled, large, isOpen, setOpen }: MenuButtonProps) => (
  <MenuTrigger {...(setOpen ? { isOpen, onOpenChange: setOpen } : {})}>
    <Button small={!large} isDisabled={isDisabled}>
      <span>{label}</span> <Icon name="down" size={13} />
    </Button>
    <Popover className={styles.popover} placement="bottom start">
      <Menu className={styles.menu} aria-label={label} onAction={key => choose(String(key))}>
        {choices.map(({ id, label: text, hint }) => (
          <MenuItem key={id} id={id} textValue={text} className={styles.item}>
            <span className="wrap-anywhere">{text}</span>
            {hint && <span className="small quiet nowrap">{hint}</span>}
          </MenuItem>
        ))}
      </Menu>
    </Popover>
  </MenuTrigger>
);
