// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IWalletDelegate
/// @notice The code that a wallet delegates to (EIP-7702) to move tokens of contracts that have no
/// `transferWithAuthorization`.
/// @dev It has no storage and no initializer. The wallet's signature decides everything.
interface IWalletDelegate {
    /// @notice Thrown when an account other than the relay calls {execute}.
    /// @param caller The caller.
    error DelegateUnauthorizedRelay(address caller);

    /// @notice Thrown when an execution is not signed by the wallet itself.
    /// @param wallet The wallet that had to sign.
    /// @param signer The account recovered from the signature; zero if the signature is malformed.
    /// @param number The request number that the relay appended to the calldata.
    error DelegateInvalidSignature(address wallet, address signer, uint256 number);

    /// @notice Calls a contract from the wallet, with the wallet's signature. Only the relay can call this. It appends
    /// the request number to the calldata; the signature covers that number. If the call reverts, this function reverts
    /// with the same data.
    /// @param target The contract to call. It must have code.
    /// @param data The calldata.
    /// @param r The first half of the EIP-712 signature of `Execution`.
    /// @param vs The second half, in the compact form of ERC-2098.
    function execute(address target, bytes calldata data, bytes32 r, bytes32 vs) external;

    /// @notice Returns the relay, the only account that can call {execute}.
    function relay() external view returns (address);
}
