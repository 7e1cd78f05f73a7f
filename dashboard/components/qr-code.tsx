import { encodeQR } from 'qr';
import styles from './qr-code.module.css';

/** Width of the empty border in modules, as ISO/IEC 18004 requires. */
const BORDER = 4;

/** A path with a square for each dark module. */
const pathOf = (modules: boolean[][]): string =>
  modules.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');

/** A QR code with this text, dark on light in both themes, because some readers need it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const modules = encodeQR(text, 'raw', { border: BORDER });
  return (
    <svg
      role="img"
      aria-label={label}
      className={styles.code}
      viewBox={`0 0 ${modules.length} ${modules.length}`}
      shapeRendering="crispEdges"
    >
      <path d={pathOf(modules)} />
    </svg>
  );
}
