import { useNavigate } from '@tanstack/react-router';

/** Leads from the page of a link, whose token is behind `#`, to the start. */
export function useLeaveLink(): () => Promise<void> {
  const navigate = useNavigate();
  return () => navigate({ to: '/', hash: '', replace: true });
}
