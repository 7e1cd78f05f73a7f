import { t } from '../i18n.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface MoveButtonsProps {
  /** The entry, as it is named in the labels of the buttons. */
  name: string;
  at: number;
  count: number;
  move(by: 1 | -1): void;
  remove(): void;
}

/** Buttons that move an entry of a list up and down, and remove it. */
export const MoveButtons = ({ name, at, count, move, remove }: MoveButtonsProps) => (
  <span>
    <Button
      icon
      small
      look="quiet"
      isDisabled={at === 0}
      aria-label={t('Move {name} up', { name })}
      onPress={() => move(-1)}
    >
      ↑
    </Button>
    <Button
      icon
      small
      look="quiet"
      isDisabled={at === count - 1}
      aria-label={t('Move {name} down', { name })}
      onPress={() => move(1)}
    >
      ↓
    </Button>
    <Button icon small look="quiet" aria-label={t('Remove {name}', { name })} onPress={remove}>
      <Icon name="close" size={15} />
    </Button>
  </span>
);
