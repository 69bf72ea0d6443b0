import {
  Link as RouterLink,
  type LinkComponent,
  type LinkOptions,
  type LinkProps,
  type RegisteredRouter,
} from '@tanstack/react-router';

/**
 * The open organization and environment. Links and navigations from here name a screen, such
 * as `agents/$slug`.
 */
export const base = '/$organization/$environment';

/** A link to a screen of the open organization and environment. */
export const Link: LinkComponent<'a', typeof base> = (link) => (
  <RouterLink from={base} {...(link as LinkProps)} />
);

/** A link among text. */
export const TextLink: LinkComponent<'a', typeof base> = ({ className = '', ...link }) => (
  <Link {...(link as LinkProps)} className={`text-accent underline ${className}`} />
);

/** Where a link leads, for parts that take its properties. */
export const linkTo = <const To extends string | undefined>(
  link: LinkOptions<RegisteredRouter, typeof base, To>,
): LinkProps => ({ from: base, ...link }) as LinkProps;
