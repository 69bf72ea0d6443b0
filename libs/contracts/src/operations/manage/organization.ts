import { changeOrganizationBodySchema, organizationSchema } from '../../http/manage/organization';
import { defineOperations, get, patch } from '../operation';

const table = {
  getOrganization: get('/v1/organization', 'manage', { people: 'member', rateLimited: true }),
  changeOrganization: patch('/v1/organization', 'manage', { people: 'admin', rateLimited: true }),
};

const organization = {
  id: 'org_01',
  slug: 'acme',
  externalId: null,
  name: 'Acme',
  timezone: 'America/Santiago',
  conversations: {
    openingHours: [
      { days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const, from: '09:00', to: '18:00' },
    ],
    closedMessage: 'We answer on weekdays from 9 to 18.',
    takeBackAfterMinutes: 120,
    notifyAfterMinutes: 5,
    notifyEmails: [],
    phonePauseMinutes: 60,
  },
};

export const organizationOperations = defineOperations('Settings', table, {
  getOrganization: {
    summary: 'Retrieve the organization',
    response: organizationSchema,
    example: { response: organization },
  },
  changeOrganization: {
    summary: 'Change the organization',
    description:
      'Changes the name, the time zone or settings, for both environments. Schedules without a time zone of their own follow it.',
    body: changeOrganizationBodySchema,
    response: organizationSchema,
    errors: { 400: [['invalid_timezone', '"Santiago" is not a time zone']] },
    example: { body: { conversations: { notifyAfterMinutes: 5 } }, response: organization },
  },
});
