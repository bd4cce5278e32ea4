/** The query of the links of the site. */

/** Links that the site offers. */
export const LINKS = 'query Links { links { name url } }';
