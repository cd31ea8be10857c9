import js from "@eslint/js";

export default [
  js.configs.recommended,
  {
    rules: {
      // The compiler knows what is defined, and what is used.
      "no-undef": "off",
      "no-unused-vars": "off",
      eqeqeq: "error",
      "no-shadow-restricted-names": "error",
      "no-throw-literal": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": ["error", { destructuring: "all", ignoreReadBeforeAssign: true }],
      "prefer-template": "error",
    },
  },
  // Marks and bounds of letters are its matter.
  { files: ["**/fold.js"], rules: { "no-control-regex": "off", "no-misleading-character-class": "off" } },
];
