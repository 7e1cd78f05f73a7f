/** Tags that do not inherit from their own beginning (CLDR 48, parentLocales). */
const PARENTS: Record<string, string> = {
  'en-150': 'en-001',
  'hi-Latn': 'en-IN',
  ht: 'fr-HT',
  nb: 'no',
  nn: 'no',
  'zh-Hant-MO': 'zh-Hant-HK',
};

/** The regions, two letters each, whose tags inherit from that of a group or of another region. */
const REGIONS: Record<string, string> = {
  'en-001':
    'AGAIAUBBBMBSBWBZCCCKCMCXCYDGDMERFJFKFMGBGDGGGHGIGMGSGYHKIDIEILIMINIOJEJMKEKIKNKYLCLRLSMGMOMSMTMUMVMWMYNANFNGNRNUNZPGPKPNPWRWSBSCSDSGSHSLSSSXSZTCTKTOTTTVTZUGVCVGVUWSZAZMZW',
  'en-150': 'ATBECHCZDEDKEEESFIFRGEHUITLTLVNLNOPLPTROSESISKUA',
  'es-419': 'ARBOBRBZCLCOCRCUDOECGTHNJPMXNIPAPEPRPYSVUSUYVE',
  'pt-PT': 'AOCHCVFRGQGWLUMOMZSTTL',
};

function parentOf(tag: string): string {
  const [language, region = '', more] = tag.split('-');
  const isGroup = (parent: string) =>
    !more && parent.startsWith(`${language}-`) && REGIONS[parent]?.match(/../g)?.includes(region);
  return PARENTS[tag] ?? Object.keys(REGIONS).find(isGroup) ?? tag.replace(/-?[^-]*$/, '');
}

/** A tag in canonical form, with its likely subtags (UTS 35); `no` is the macrolanguage of `nb` and `nn`. */
export function parseLocale(text: string): { tag: string; language: string; script: string | undefined } | undefined {
  try {
    const locale = new Intl.Locale(text.replace(/[.@].*/, '').replace(/_/g, '-'));
    const { language, script } = locale.maximize();
    return { tag: locale.baseName, language: /^n[bn]$/.test(language) ? 'no' : language, script };
  } catch {
    return undefined; // there is no other way to check
  }
}

/**
 * Returns the best of the available tags for a language of the device, in the order of a card's language: the tag, its CLDR
 * parents, then the same language and script, a tag without a region first.
 */
export function matchLocale(wanted: string, available: string[]): string | undefined {
  const locale = parseLocale(wanted);
  if (!locale) return undefined;
  for (let tag = locale.tag; tag; tag = parentOf(tag))
    if (available.includes(tag) && parseLocale(tag)?.script === locale.script) return tag;
  const regionOf = (tag: string) => Number(new Intl.Locale(tag).region !== undefined);
  const [related] = available
    .filter(tag => {
      const { language, script } = parseLocale(tag) ?? {};
      return language === locale.language && script === locale.script;
    })
    .sort((a, b) => regionOf(a) - regionOf(b) || (a < b ? -1 : 1));
  return related;
}
