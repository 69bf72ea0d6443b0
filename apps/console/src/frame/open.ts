import { type LinkProps, useNavigate, useSearch } from '@tanstack/react-router';

/** The item of a list that the address names, how to open one, and how to close it. */
export function useOpen() {
  const navigate = useNavigate();
  const { open } = useSearch({ strict: false });
  const linkOf = (id: string | undefined): LinkProps => ({
    to: '.',
    search: (before) => ({ ...before, open: id }),
  });
  return {
    open,
    linkOf,
    show: (id: string) => void navigate(linkOf(id)),
    close: () => void navigate({ ...linkOf(undefined), replace: true }),
  };
}
